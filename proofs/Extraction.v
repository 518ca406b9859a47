(* The proved checkers as OCaml: whole numbers stay Coq's own binary ones, so no arithmetic is trusted. *)
From Rosenblatt Require Import Separability Logs.
Require Import Extraction ExtrOcamlBasic.
Extraction "checker.ml"
  check_separable check_inseparable check_inseparable_through_origin
  check_run check_separating_run check_bound.
