/* The kernels that were compiled when the package was built, as functions of Python.

A call puts its arguments into 64-bit slots, and their types into a key; the key chooses the form of
the kernel. An argument is None, a number, a contiguous array, or a tuple of these; a tuple's class
is part of the key. For other arguments, and for keys without a form, a function of Python is called.

It needs the stable ABI of Python 3.11, so that one library serves all later versions, and arrays
are read by the buffer protocol. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void entry(const int64_t *slots, int64_t *results);
struct form { const char *kernel, *key; entry *run; const char *result; };
struct target { const char *name; const struct form *forms; };
/* SLOTS, RESULTS, NUMBER_OF_CLASSES and CLASSES; TARGETS: the best first. A list ends with {0}. */
#include "table.h"

enum { ARRAYS = 64, KEY = 1024, NAME = 256 };

static const struct target *TARGET;

/* What kernels call. */

static double (*round_decimal)(int64_t, int64_t, int64_t);

double rosenblatt_round(int64_t first, int64_t end, int64_t single)
{
    return round_decimal ? round_decimal(first, end, single) : NAN;
}

double numba_ldexp(double x, int exponent) { return ldexp(x, exponent); }

/* Arguments. */

struct call {
    int64_t slots[SLOTS], results[RESULTS + 1];
    Py_buffer views[ARRAYS];
    char key[KEY];
    int slot, array, length;
};

/* 0 if it was added; -1 if it does not fit: then no form has it. */
static int add_text(struct call *call, const char *text, size_t size)
{
    if (call->length + size + 1 > KEY) return -1;
    memcpy(call->key + call->length, text, size);
    call->length += (int)size;
    return 0;
}

static int add_number(struct call *call, char kind, int64_t word)
{
    if (call->slot == SLOTS) return -1;
    call->slots[call->slot++] = word;
    return add_text(call, &kind, 1);
}

/* The class of a tuple: its place in CLASSES, as a letter; 0 if no form has it. Classes that were
found are kept, so that they are compared by their address the next time. */
static struct { PyObject *type; int place; } KEPT[NUMBER_OF_CLASSES];
static int kept;

static int find_class(PyObject *type)
{
    for (int k = 0; k < kept; k++)
        if (KEPT[k].type == type) return KEPT[k].place;
    int place = 0;
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    PyObject *name = PyObject_GetAttrString(type, "__qualname__");
    PyObject *whole = module && name ? PyUnicode_FromFormat("%S.%S", module, name) : NULL;
    const char *text = whole ? PyUnicode_AsUTF8AndSize(whole, NULL) : NULL;
    for (int k = 0; text && k < NUMBER_OF_CLASSES && CLASSES[k]; k++)
        if (!strcmp(text, CLASSES[k])) place = k + 1;
    PyErr_Clear();
    Py_XDECREF(whole);
    Py_XDECREF(name);
    Py_XDECREF(module);
    if (place && kept < NUMBER_OF_CLASSES) {
        Py_INCREF(type);
        KEPT[kept].type = type;
        KEPT[kept++].place = place;
    }
    return place;
}

/* The letter of a number's type, by its size; 0 for other types. */
static char get_letter(const char *format)
{
    if (*format == '@' || *format == '=' || *format == '|') format++;
    if (!format[0] || format[1]) return 0;
    if (*format == 'l') return sizeof(long) == 8 ? 'q' : 'i';
    if (*format == 'L') return sizeof(long) == 8 ? 'Q' : 'I';
    return strchr("?bBhHiIqQfd", *format) ? *format : 0;
}

static int add_scalar(struct call *call, const Py_buffer *view, char letter)
{
    int64_t word = 0;
    switch (letter) {
    case 'b': word = *(const int8_t *)view->buf; break;
    case 'h': { int16_t x; memcpy(&x, view->buf, sizeof x); word = x; break; }
    case 'i': { int32_t x; memcpy(&x, view->buf, sizeof x); word = x; break; }
    default:
        if (!letter || view->itemsize > 8) return -1;
        memcpy(&word, view->buf, view->itemsize);
#if PY_BIG_ENDIAN
        return -1;
#endif
    }
    return add_number(call, letter, word);
}

static int is_contiguous(const Py_buffer *view)
{
    Py_ssize_t stride = view->itemsize;
    for (int k = 0; k < view->ndim; k++)
        if (view->shape[k] == 0) return 1;
    for (int k = view->ndim - 1; k >= 0; k--) {
        if (view->shape[k] != 1 && view->strides[k] != stride) return 0;
        stride *= view->shape[k];
    }
    return 1;
}

static int add_array(struct call *call, const Py_buffer *view, char letter)
{
    char text[3] = {letter, (char)('0' + view->ndim), view->readonly ? 'r' : 'w'};
    if (view->ndim > 9 || call->slot + 1 + view->ndim > SLOTS) return -1;
    if (!view->shape || !view->strides || !is_contiguous(view)) return -1;
    if (letter && (uintptr_t)view->buf % view->itemsize && view->len) return -1;
    if (add_text(call, "[", 1)) return -1;
    if (!letter) { /* a record: its fields, with one letter for each size */
        const char *format = view->format;
        if (*format != 'T') return -1;
        for (; *format; format++) {
            char each = get_letter((char[]){*format, 0});
            if (add_text(call, each ? &each : format, 1)) return -1;
            if (*format == ':') /* a name follows */
                do
                    if (!*++format || add_text(call, format, 1)) return -1;
                while (*format != ':');
        }
    }
    if (add_text(call, letter ? text : text + 1, letter ? 3 : 2) || add_text(call, "]", 1)) return -1;
    call->slots[call->slot++] = (int64_t)(intptr_t)view->buf;
    for (int k = 0; k < view->ndim; k++) call->slots[call->slot++] = view->shape[k];
    return 0;
}

static int add_buffer(struct call *call, PyObject *value)
{
    if (call->array == ARRAYS || !PyObject_CheckBuffer(value)) return -1;
    Py_buffer *view = &call->views[call->array];
    if (PyObject_GetBuffer(value, view, PyBUF_STRIDED_RO | PyBUF_FORMAT)) return -1;
    call->array++;
    char letter = view->format ? get_letter(view->format) : 'B';
    return view->ndim ? add_array(call, view, letter) : add_scalar(call, view, letter);
}

static int add_argument(struct call *call, PyObject *value)
{
    if (value == Py_None) return add_text(call, "n", 1);
    if (PyFloat_Check(value)) {
        double x = PyFloat_AsDouble(value);
        int64_t word;
        memcpy(&word, &x, sizeof word);
        return add_number(call, 'd', word);
    }
    if (PyBool_Check(value)) return add_number(call, '?', value == Py_True);
    if (PyLong_Check(value)) {
        int over;
        long long x = PyLong_AsLongLongAndOverflow(value, &over);
        return over ? -1 : add_number(call, 'q', x);
    }
    if (!PyTuple_Check(value)) return add_buffer(call, value);
    if (!PyTuple_CheckExact(value)) {
        int place = find_class((PyObject *)Py_TYPE(value));
        char letter = (char)(128 + place); /* what no format has */
        if (!place || add_text(call, &letter, 1)) return -1;
    }
    if (add_text(call, "(", 1)) return -1;
    Py_ssize_t n = PyTuple_Size(value);
    for (Py_ssize_t k = 0; k < n; k++)
        if (add_argument(call, PyTuple_GetItem(value, k))) return -1;
    return add_text(call, ")", 1);
}

/* Results. */

static PyObject *get_result(const char **key, const int64_t **results);

static PyObject *get_tuple(const char **key, const int64_t **results)
{
    PyObject *list = PyList_New(0);
    while (list && **key != ')') {
        PyObject *item = get_result(key, results);
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    (*key)++;
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* A tuple of a class: module:class(items). */
static PyObject *get_named_tuple(const char **key, const int64_t **results)
{
    char name[NAME];
    size_t size = strcspn(*key, "(");
    const char *colon = memchr(*key, ':', size);
    if (!colon || size >= NAME) return PyErr_SetString(PyExc_SystemError, "a broken form"), NULL;
    memcpy(name, *key, size);
    name[size] = name[colon - *key] = 0;
    const char *class_name = name + (colon - *key) + 1;
    *key += size + 1;
    PyObject *items = get_tuple(key, results), *made = NULL;
    PyObject *module = items ? PyImport_ImportModule(name) : NULL;
    PyObject *class = module ? PyObject_GetAttrString(module, class_name) : NULL;
    if (class) made = PyObject_CallObject(class, items);
    Py_XDECREF(class);
    Py_XDECREF(module);
    Py_XDECREF(items);
    return made;
}

static PyObject *get_result(const char **key, const int64_t **results)
{
    double x;
    switch (**key) {
    case 'n': (*key)++; Py_INCREF(Py_None); return Py_None;
    case 'd': (*key)++; memcpy(&x, (*results)++, sizeof x); return PyFloat_FromDouble(x);
    case 'Q': (*key)++; return PyLong_FromUnsignedLongLong((unsigned long long)*(*results)++);
    case '?': (*key)++; return PyBool_FromLong(*(*results)++ != 0);
    case '(': (*key)++; return get_tuple(key, results);
    case 'q':
        (*key)++;
        return PyLong_FromLongLong(*(*results)++);
    default: return get_named_tuple(key, results);
    }
}

/* Calls. */

struct kernel {
    PyMethodDef method;
    const struct form *forms, *last; /* its first form, and the one that was called last */
    int count;
    PyObject *otherwise; /* a function for arguments without a form */
};

/* Whether a form takes arguments; it may read what can be written to. */
static int takes(const char *form, const char *key)
{
    for (; *form == *key || (*form == 'r' && *key == 'w'); form++, key++)
        if (!*form) return 1;
    return 0;
}

static const struct form *find_form(struct kernel *kernel, const char *key)
{
    if (takes(kernel->last->key, key)) return kernel->last;
    for (int k = 0; k < kernel->count; k++)
        if (takes(kernel->forms[k].key, key)) return kernel->last = &kernel->forms[k];
    return NULL;
}

static PyObject *call_otherwise(struct kernel *kernel, PyObject *const *arguments, Py_ssize_t n)
{
    PyObject *tuple = PyTuple_New(n), *result;
    if (!tuple) return NULL;
    for (Py_ssize_t k = 0; k < n; k++) {
        Py_INCREF(arguments[k]);
        PyTuple_SetItem(tuple, k, arguments[k]);
    }
    result = PyObject_CallObject(kernel->otherwise, tuple);
    Py_DECREF(tuple);
    return result;
}

static PyObject *run(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    struct kernel *kernel = PyCapsule_GetPointer(self, NULL);
    struct call call;
    const struct form *form = NULL;
    PyObject *result = NULL;
    int fits = 1;
    if (!kernel) return NULL;
    call.slot = call.array = call.length = 0;
    for (Py_ssize_t k = 0; k < n && fits; k++) fits = !add_argument(&call, arguments[k]);
    if (fits) {
        call.key[call.length] = 0;
        form = find_form(kernel, call.key);
    }
    if (form) {
        Py_BEGIN_ALLOW_THREADS
        form->run(call.slots, call.results);
        Py_END_ALLOW_THREADS
        const char *key = form->result;
        const int64_t *results = call.results;
        result = get_result(&key, &results);
    }
    for (int k = 0; k < call.array; k++) PyBuffer_Release(&call.views[k]);
    if (form) return result;
    PyErr_Clear();
    return call_otherwise(kernel, arguments, n);
}

static void forget(PyObject *capsule)
{
    struct kernel *kernel = PyCapsule_GetPointer(capsule, NULL);
    Py_XDECREF(kernel->otherwise);
    free((char *)kernel->method.ml_name);
    free(kernel);
}

PyDoc_STRVAR(KERNEL_DOC, "kernel(name, otherwise)\n--\n\nReturn a compiled kernel.\n\n"
    "``otherwise`` is called with arguments of other types. Unknown names are those of kernels\n"
    "without forms.");

static PyObject *make_kernel(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyObject *otherwise, *capsule, *function;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &otherwise)) return NULL;
    const struct form *form = TARGET->forms;
    while (form->kernel && strcmp(form->kernel, name)) form++;
    if (!form->kernel) {
        Py_INCREF(otherwise);
        return otherwise;
    }
    struct kernel *kernel = calloc(1, sizeof *kernel);
    const char *dot = strrchr(name, '.');
    char *own = malloc(strlen(name) + 1);
    if (!kernel || !own) return free(kernel), free(own), PyErr_NoMemory();
    kernel->method.ml_name = strcpy(own, dot ? dot + 1 : name);
    kernel->method.ml_meth = (PyCFunction)(void (*)(void))run;
    kernel->method.ml_flags = METH_FASTCALL;
    kernel->method.ml_doc = "A compiled kernel.";
    for (kernel->forms = kernel->last = form; form->kernel && !strcmp(form->kernel, name); form++)
        kernel->count++;
    Py_INCREF(otherwise);
    kernel->otherwise = otherwise;
    capsule = PyCapsule_New(kernel, NULL, forget);
    if (!capsule) return NULL;
    function = PyCFunction_NewEx(&kernel->method, capsule, NULL);
    Py_DECREF(capsule);
    return function;
}

static PyObject *set_round(PyObject *module, PyObject *address)
{
    void *pointer = PyLong_AsVoidPtr(address);
    if (!pointer && PyErr_Occurred()) return NULL;
    round_decimal = (double (*)(int64_t, int64_t, int64_t))pointer;
    Py_RETURN_NONE;
}

static PyMethodDef FUNCTIONS[] = {
    {"kernel", make_kernel, METH_VARARGS, KERNEL_DOC},
    {"set_round", set_round, METH_O, "Parse the decimals that kernels cannot with the function at an address."},
    {0}};

/* The processor. */

#if defined(__x86_64__) || defined(_M_X64)
#ifdef _MSC_VER
#include <intrin.h>
static void ask(int leaf, unsigned r[4]) { __cpuidex((int *)r, leaf, 0); }
static uint64_t get_saved(void) { return _xgetbv(0); }
#else
#include <cpuid.h>
static void ask(int leaf, unsigned r[4]) { __cpuid_count(leaf, 0, r[0], r[1], r[2], r[3]); }
static uint64_t get_saved(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
#endif

/* Whether the processor, and the system that saves its registers, have all of x86-64-v3. */
static int has_v3(void)
{
    unsigned r[4];
    ask(0, r);
    if (r[0] < 7) return 0;
    ask(1, r);
    unsigned first = 1u << 0 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22
        | 1u << 23 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 29; /* SSE3 … AVX, F16C, FMA, MOVBE */
    if ((r[2] & first) != first || (get_saved() & 6) != 6) return 0;
    ask(7, r);
    unsigned second = 1u << 3 | 1u << 5 | 1u << 8; /* BMI1, AVX2, BMI2 */
    if ((r[1] & second) != second) return 0;
    ask((int)0x80000000, r);
    if (r[0] < 0x80000001) return 0;
    ask((int)0x80000001, r);
    return r[2] >> 5 & 1; /* LZCNT */
}
#else
static int has_v3(void) { return 0; }
#endif

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_library", "The compiled kernels.", -1, FUNCTIONS};

PyMODINIT_FUNC PyInit__library(void)
{
    const char *wanted = getenv("ROSENBLATT_CPU");
    for (TARGET = TARGETS; TARGET->name; TARGET++)
        if (wanted ? !strcmp(wanted, TARGET->name) : strcmp(TARGET->name, "x86-64-v3") || has_v3())
            break;
    if (!TARGET->name) {
        PyErr_SetString(PyExc_ImportError,
            "This installation of Rosenblatt was built for another processor; install it again here.");
        return NULL;
    }
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddStringConstant(module, "TARGET", TARGET->name)) Py_CLEAR(module);
    return module;
}
