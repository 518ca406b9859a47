// The engine: the package's own kernels as WebAssembly, and the memory that they work in.
//
// Every export takes the addresses of its slots and of its results, as library/compile.py lays them
// out: arguments follow each other, and an array is its address and its shape.

const SLOTS = 64;
const RESULTS = 4;
const UPDATE_BYTES = 32; // position and rival (64 bits each), margin, step

/** An array of numbers in memory, as an argument of a kernel. */
export const arrayAt = (address, ...shape) => [address, ...shape].map(BigInt);

/** Memory that grows as it is asked for; `mark` and `release` give the latest part back. */
class Memory {
	constructor(memory, start) {
		this.memory = memory;
		this.next = (start + 15) & ~15;
	}

	allocate(bytes) {
		const address = this.next;
		this.next = (address + bytes + 31) & ~15;
		const missing = this.next - this.memory.buffer.byteLength;
		if (missing > 0) this.memory.grow(Math.ceil(missing / 65536));
		return address;
	}

	mark() {
		return this.next;
	}

	release(mark) {
		this.next = mark;
	}

	/** All memory as numbers of 8 bytes; as `view`, no longer valid after the next `allocate`. */
	get numbers() {
		if (this.known?.buffer !== this.memory.buffer) this.known = new Float64Array(this.memory.buffer, 0, this.memory.buffer.byteLength >> 3);
		return this.known;
	}

	/** All memory as whole numbers of 8 bytes. */
	get wholes() {
		if (this.knownWholes?.buffer !== this.memory.buffer) this.knownWholes = new BigInt64Array(this.memory.buffer, 0, this.memory.buffer.byteLength >> 3);
		return this.knownWholes;
	}

	/** All memory as numbers of 4 bytes. */
	get integers() {
		if (this.knownIntegers?.buffer !== this.memory.buffer) this.knownIntegers = new Int32Array(this.memory.buffer);
		return this.knownIntegers;
	}

	/** A typed array of the memory; it is no longer valid after the next `allocate`. */
	view(type, address, length) {
		return new type(this.memory.buffer, address, length);
	}

	/** Copy numbers into new memory. */
	put(type, values) {
		const address = this.allocate(values.length * type.BYTES_PER_ELEMENT);
		this.view(type, address, values.length).set(values);
		return address;
	}
}

export class Engine {
	/** @param {WebAssembly.Instance} instance */
	constructor(instance) {
		this.kernels = instance.exports;
		this.memory = new Memory(instance.exports.memory, instance.exports.__heap_base.value);
		this.slots = this.memory.allocate(8 * SLOTS);
		this.results = this.memory.allocate(8 * RESULTS);
	}

	/** Compile the module of some bytes and make an engine of it. */
	static async load(bytes) {
		const env = { exp: Math.exp, expm1: Math.expm1 };
		const { instance } = await WebAssembly.instantiate(bytes, { env });
		return new Engine(instance);
	}

	/** Call a kernel with numbers, whole ones as BigInt, and arrays of them. */
	call(name, ...given) {
		const { numbers, wholes } = this.memory, first = this.slots >> 3;
		given.flat(2).forEach((value, n) => {
			if (typeof value === "bigint") wholes[first + n] = value;
			else numbers[first + n] = value;
		});
		this.kernels[name](this.slots, this.results);
	}

	/** A whole number that a kernel has returned. */
	whole(i) {
		return Number(this.memory.wholes[(this.results >> 3) + i]);
	}

	/** A number that a kernel has returned. */
	number(i) {
		return this.memory.numbers[(this.results >> 3) + i];
	}

	/** Permute the row numbers at an address, as `Perceptron` does for a seed and an epoch. */
	shuffle(address, length, seed, epoch) {
		this.call("shuffle", arrayAt(address, length), BigInt(seed), BigInt(epoch));
	}
}

/** Scatter the bits of a 64-bit number (finalizer of SplitMix64). */
export function mix(number) {
	let z = BigInt.asUintN(64, number);
	z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
	z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
	return z ^ (z >> 31n);
}

/** Dense rows with labels in the engine's memory, as the kernels take them. */
export class Rows {
	/**
	 * @param {Engine} engine
	 * @param {ArrayLike<number>[]} X rows of equal length
	 * @param {ArrayLike<number>} steps how far each row moves the weights, with the sign of its label
	 * @param {ArrayLike<number> | null} labels class numbers, or null for two classes
	 */
	constructor(engine, X, steps, labels = null) {
		const { memory } = engine;
		Object.assign(this, { engine, memory, n: X.length, d: X[0]?.length ?? 0 });
		const flat = new Float64Array(this.n * this.d);
		X.forEach((row, i) => flat.set(row, i * this.d));
		this.flat = flat;
		this.X = memory.put(Float64Array, flat);
		this.size = memory.put(BigInt64Array, [BigInt(this.d)]);
		this.stepSizes = Float64Array.from(steps);
		this.steps = memory.put(Float64Array, this.stepSizes);
		this.labels = labels && memory.put(Uint32Array, labels);
		this.labelAt = (i) => labels[i];
		this.log = memory.allocate(UPDATE_BYTES);
	}

	/** The rows, their steps and their labels, if they have any. */
	get examples() {
		const { X, size, n, d, steps, labels } = this;
		return [arrayAt(X, n * d), arrayAt(size, 1), arrayAt(steps, n), labels ? arrayAt(labels, n) : []].flat();
	}

	row(i) {
		return this.flat.subarray(i * this.d, (i + 1) * this.d);
	}

	/** The update that a kernel has just logged. */
	logged(log = this.log) {
		const { integers, numbers } = this.memory, at = log >> 2, further = (log >> 3) + 2;
		return { position: integers[at], rival: integers[at + 2], margin: numbers[further], step: numbers[further + 1] };
	}
}
