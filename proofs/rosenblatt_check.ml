(* rosenblatt-check ROWS PROOFS: read rows and certificates, and let the proved checkers judge them.
   ROWS has one line for each row: "1 X1 X2 ..." or "-1 X1 X2 ...". PROOFS has one certificate a line:
     separable B W1 W2 ...              inseparable ROW:L ROW:L ...
     run STEP DEMAND ROW ROW ...        inseparable-through-origin ROW:L ROW:L ...
     bound STEP DEMAND MISTAKES B W1 W2 ...
   X, STEP and DEMAND are doubles; B, W and L are hexadecimal integers; rows are counted from 1. *)
open Checker

exception Malformed of string
let fail format = Printf.ksprintf (fun text -> raise (Malformed text)) format

let rec positive n = (* n > 0, bit by bit *)
  if n = 1 then XH else if n land 1 = 1 then XI (positive (n lsr 1)) else XO (positive (n lsr 1))
let z_of_int n = if n = 0 then Z0 else if n > 0 then Zpos (positive n) else Zneg (positive (-n))

let z_of_hex word = (* "-0x1f" *)
  let negative = String.length word > 0 && word.[0] = '-' in
  let first = if negative then 3 else 2 in
  if String.length word <= first || String.sub word (first - 2) 2 <> "0x" then
    fail "expected an integer such as -0x1f, got %s" word;
  let digit c = match String.index_opt "0123456789abcdef" c with
    | Some value -> value
    | None -> fail "expected a hexadecimal digit, got %c" c in
  let push number bit = match number with
    | None -> if bit = 1 then Some XH else None
    | Some p -> Some (if bit = 1 then XI p else XO p) in
  let add number c = List.fold_left (fun p i -> push p ((digit c lsr i) land 1)) number [3; 2; 1; 0] in
  let digits = String.sub word first (String.length word - first) in
  match Seq.fold_left add None (String.to_seq digits) with
  | None -> Z0
  | Some p -> if negative then Zneg p else Zpos p

(* A double is an integer of at most 53 bits times a power of two. *)
let double word =
  let x = match float_of_string_opt word with Some x -> x | None -> fail "expected a number, got %s" word in
  if not (Float.abs x < infinity) then fail "expected a finite number, got %s" word;
  let fraction, power = Float.frexp x in
  let rec odd m e = if m <> 0 && m land 1 = 0 then odd (m asr 1) (e + 1) else m, e in
  let m, e = odd (Float.to_int (Float.ldexp fraction 53)) (power - 53) in
  { mantissa = z_of_int m; exponent = (if m = 0 then Z0 else z_of_int e) }

let words line = List.filter (( <> ) "") (String.split_on_char ' ' line)
let read line = match words line with
  | "1" :: x -> { is_positive = true; features = List.map double x }
  | "-1" :: x -> { is_positive = false; features = List.map double x }
  | _ -> fail "expected a row that begins with 1 or -1"

let fold_lines path act first =
  let channel = open_in path in
  let rec next number state = match input_line channel with
    | exception End_of_file -> close_in channel; state
    | line -> match act number state line with
      | state -> next (number + 1) state
      | exception Malformed text -> fail "%s, line %d: %s" path number text in
  next 1 first

let add_row _ (rows, width) line =
  let found = List.length (read line).features in
  if rows <> [] && found <> width then fail "expected %d numbers as above, got %d" width found;
  line :: rows, found

let integer word = match int_of_string_opt word with Some n -> n | None -> fail "expected an integer, got %s" word
let index count word =
  let i = integer word in
  if 1 <= i && i <= count then i - 1 else fail "expected a row from 1 to %d, got %s" count word
let log count = List.map (fun word -> match index count word with 0 -> N0 | i -> Npos (positive i))
let multipliers count words =
  let all = Array.make count Z0 in
  let set word = match String.split_on_char ':' word with
    | [row; l] -> all.(index count row) <- z_of_hex l
    | _ -> fail "expected ROW:MULTIPLIER, got %s" word in
  List.iter set words; Array.to_list all

let judge rows count = function (* the claim of a certificate, and whether it is proved *)
  | "separable" :: b :: w -> "separable", check_separable read (List.map z_of_hex w) (z_of_hex b) rows
  | "inseparable" :: ls -> "inseparable", check_inseparable read (multipliers count ls) rows
  | "inseparable-through-origin" :: ls ->
    "inseparable through the origin", check_inseparable_through_origin read (multipliers count ls) rows
  | "run" :: step :: demand :: is ->
    let step, demand, log = double step, double demand, log count is in
    let clean = check_separating_run read step demand rows log in
    Printf.sprintf "a run of %d mistakes%s" (List.length is) (if clean then " that separates the rows" else ""),
    clean || check_run read step demand rows log
  | "bound" :: step :: demand :: most :: b :: w ->
    Printf.sprintf "every run makes at most %d mistakes" (integer most),
    check_bound read (double step) (double demand) (List.map z_of_hex w) (z_of_hex b) (z_of_int (integer most)) rows
  | _ -> fail "expected separable, inseparable, run or bound"

let tell rows count number all line =
  let claim, proved = judge rows count (words line) in
  Printf.printf "%d %s: %s\n" number (if proved then "proved" else "not proved") claim; all && proved

let () = try match Sys.argv with
  | [| _; rows; proofs |] ->
    let rows = List.rev (fst (fold_lines rows add_row ([], 0))) in
    exit (if fold_lines proofs (tell rows (List.length rows)) true then 0 else 1)
  | _ -> fail "usage: rosenblatt-check ROWS PROOFS"
  with Malformed text | Sys_error text -> prerr_endline ("rosenblatt-check: " ^ text); exit 2
