(* Whether a hyperplane separates two classes, and certificates of both answers.
   The definitions are those of docs/theory.md; numbers are rationals, so that nothing is rounded. *)
Require Import QArith Qpower ZArith List Bool Lia Lqa.
Import ListNotations.
Open Scope Q_scope.

(** * Rows, margins, separability *)

Definition vector := list Q.

Fixpoint dot (u v : vector) : Q :=
  match u, v with
  | a :: u', b :: v' => a * b + dot u' v'
  | _, _ => 0
  end.

(* A row x with its class, which is +1 or -1. *)
Record example (number : Type) := Example { is_positive : bool; features : list number }.
Arguments Example {number}.
Arguments is_positive {number}.
Arguments features {number}.

Definition sign {number} (e : example number) : Q := if is_positive e then 1 else -1.

(* y (w.x + b) *)
Definition margin (w : vector) (b : Q) (e : example Q) : Q := sign e * (dot w (features e) + b).

Definition separates (w : vector) (b : Q) (data : list (example Q)) : Prop :=
  forall e, In e data -> 0 < margin w b e.
Definition separable (data : list (example Q)) : Prop := exists w b, separates w b data.
Definition separable_through_origin (data : list (example Q)) : Prop := exists w, separates w 0 data.

(** * Floating-point numbers are whole numbers times powers of two *)

Record float := Float { mantissa : Z; exponent : Z }.
Notation "m *2^ e" := (Float m e) (at level 35, e at level 0).
Definition whole (m : Z) : float := Float m 0.
Definition to_whole (f : float) : option Z :=
  if (exponent f =? 0)%Z then Some (mantissa f) else None.
Declare Scope float_scope.
Delimit Scope float_scope with float.
Bind Scope float_scope with float.
Number Notation float whole to_whole : float_scope.
Definition pos (x : list float) : example float := Example true x.
Definition neg (x : list float) : example float := Example false x.

Definition value (f : float) : Q := inject_Z (mantissa f) * 2 ^ exponent f.
Definition exact (e : example float) : example Q := Example (is_positive e) (map value (features e)).

(* f * 2^k, which is a whole number when k is large enough *)
Definition scaled (k : Z) (f : float) : Z := Z.shiftl (mantissa f) (exponent f + k).
(* l f 2^k, where l may be long: it is multiplied by the short mantissa *)
Definition scaled_product (k l : Z) (f : float) : Z := Z.shiftl (mantissa f * l) (exponent f + k).
Definition shift_of (e : example float) : Z :=
  fold_left (fun k f => Z.max k (- exponent f)) (features e) 0%Z.

(** * The checkers, which compute with whole numbers only *)

Fixpoint zdot_onto (total : Z) (u v : list Z) : Z :=
  match u, v with
  | a :: u', b :: v' => zdot_onto (a * b + total) u' v'
  | _, _ => total
  end.
Definition signed (e : example float) (z : Z) : Z := if is_positive e then z else (- z)%Z.
Definition zmargin (k : Z) (w : list Z) (b : Z) (e : example float) : Z :=
  signed e (zdot_onto (Z.shiftl b k) w (map (scaled k) (features e))).

(* Rows are read when they are needed, so that they may be lines of a file. In proofs by computation,
   row is example float and read is the identity. *)
Section Checkers.
Variables (row : Type) (read : row -> example float).
Definition meaning (data : list row) : list (example Q) := map (fun r => exact (read r)) data.

(* Yes: a hyperplane that separates. *)
Definition check_separable (w : list Z) (b : Z) (data : list row) : bool :=
  forallb (fun r => let e := read r in 0 <? zmargin (shift_of e) w b e)%Z data.

(* No: positive multipliers of some rows, whose signed sum is zero (Gordan 1873). *)
Fixpoint support (multipliers : list Z) (data : list row)
    (found : list (Z * example float)) : list (Z * example float) :=
  match multipliers, data with
  | l :: multipliers', r :: data' =>
      support multipliers' data' (if (l =? 0)%Z then found else (l, read r) :: found)
  | _, _ => found
  end.
Fixpoint zadd (u v : list Z) : list Z :=
  match u, v with
  | a :: u', b :: v' => (a + b)%Z :: zadd u' v'
  | [], v => v
  | u, [] => u
  end.
Fixpoint zsum (k : Z) (rows : list (Z * example float)) : list Z :=
  match rows with
  | [] => []
  | (l, e) :: rest => zadd (map (scaled_product k (signed e l)) (features e)) (zsum k rest)
  end.
Fixpoint zbalance (rows : list (Z * example float)) : Z :=
  match rows with
  | [] => 0%Z
  | (l, e) :: rest => (signed e l + zbalance rest)%Z
  end.
Definition shift_of_all (rows : list (example float)) : Z :=
  fold_left (fun k e => Z.max k (shift_of e)) rows 0%Z.
Definition check_sum (rows : list (Z * example float)) : bool :=
  match rows with
  | [] => false
  | _ =>
      forallb (fun r => 0 <? fst r)%Z rows
      && forallb (Z.eqb 0) (zsum (shift_of_all (map snd rows)) rows)
  end.
Definition check_inseparable_through_origin (multipliers : list Z) (data : list row) : bool :=
  check_sum (support multipliers data []).
Definition check_inseparable (multipliers : list Z) (data : list row) : bool :=
  let rows := support multipliers data [] in check_sum rows && (zbalance rows =? 0)%Z.
End Checkers.
Arguments meaning {row}.
Arguments check_separable {row}.
Arguments support {row}.
Arguments check_inseparable_through_origin {row}.
Arguments check_inseparable {row}.

(** * Scaling by a power of two is harmless *)

Lemma power_positive : forall k, 0 < 2 ^ k.
Proof. intros k. apply Qpower_0_lt. reflexivity. Qed.

Lemma power_of_two : forall k, (0 <= k)%Z -> inject_Z (2 ^ k) == 2 ^ k.
Proof. intros k H. rewrite Zpower_Qpower by exact H. reflexivity. Qed.

Lemma scaled_exact : forall k f, (- exponent f <= k)%Z -> inject_Z (scaled k f) == 2 ^ k * value f.
Proof.
  intros k f H. unfold scaled, value.
  rewrite Z.shiftl_mul_pow2, inject_Z_mult, power_of_two by lia.
  rewrite Qpower_plus by discriminate. ring.
Qed.

Lemma scaled_product_exact : forall k l f, (- exponent f <= k)%Z ->
  scaled_product k l f = (l * scaled k f)%Z.
Proof. intros k l f H. unfold scaled_product, scaled. rewrite !Z.shiftl_mul_pow2 by lia. ring. Qed.

Lemma fold_max_above : forall A (g : A -> Z) l k,
  (k <= fold_left (fun k a => Z.max k (g a)) l k)%Z /\
  (forall a, In a l -> g a <= fold_left (fun k a => Z.max k (g a)) l k)%Z.
Proof.
  intros A g l. induction l as [| b l IH]; intros k; simpl; [split; [lia | contradiction] |].
  destruct (IH (Z.max k (g b))) as [H1 H2]. split; [lia |].
  intros a [-> | Ha]; [lia | auto].
Qed.

Lemma shift_nonnegative : forall e, (0 <= shift_of e)%Z.
Proof. intros e. apply (fold_max_above float (fun f => - exponent f)%Z). Qed.

Definition large_enough (k : Z) (e : example float) : Prop :=
  (0 <= k)%Z /\ forall f, In f (features e) -> (- exponent f <= k)%Z.

Lemma shift_large_enough : forall e, large_enough (shift_of e) e.
Proof.
  intros e. split; [apply shift_nonnegative |].
  apply (fold_max_above float (fun f => - exponent f)%Z).
Qed.

Lemma shift_of_all_large_enough : forall rows e, In e rows -> large_enough (shift_of_all rows) e.
Proof.
  intros rows e He. destruct (shift_large_enough e) as [H1 H2].
  assert (H := proj2 (fold_max_above _ shift_of rows 0%Z) e He). fold (shift_of_all rows) in H.
  split; [lia |]. intros f Hf. specialize (H2 f Hf). lia.
Qed.

Lemma zdot_exact : forall k w x total, (forall f, In f x -> (- exponent f <= k)%Z) ->
  inject_Z (zdot_onto total w (map (scaled k) x))
  == inject_Z total + 2 ^ k * dot (map inject_Z w) (map value x).
Proof.
  intros k w. induction w as [| a w IH]; intros [| f x] total H; cbn [map dot zdot_onto]; try ring.
  rewrite IH by (intros g Hg; apply H; right; exact Hg).
  rewrite inject_Z_plus, inject_Z_mult, scaled_exact by (apply H; left; reflexivity). ring.
Qed.

Theorem scaling_harmless : forall k w b e, large_enough k e ->
  inject_Z (zmargin k w b e) == 2 ^ k * margin (map inject_Z w) (inject_Z b) (exact e).
Proof.
  intros k w b e [Hk H]. unfold zmargin, margin, signed, sign, exact. cbn [is_positive features].
  assert (D := zdot_exact k w (features e) (Z.shiftl b k) H).
  rewrite Z.shiftl_mul_pow2, inject_Z_mult, power_of_two in D by exact Hk.
  rewrite Z.shiftl_mul_pow2 by exact Hk.
  destruct (is_positive e); rewrite ?inject_Z_opp, D; ring.
Qed.

Lemma zmargin_positive : forall k w b e, large_enough k e -> (0 < zmargin k w b e)%Z ->
  0 < margin (map inject_Z w) (inject_Z b) (exact e).
Proof.
  intros k w b e He H. rewrite Zlt_Qlt, scaling_harmless in H by exact He.
  apply (Qmult_lt_l _ _ (2 ^ k)); [apply power_positive |]. rewrite Qmult_0_r. exact H.
Qed.

(** * A hyperplane that passes the check separates *)

Section Soundness.
Variables (row : Type) (read : row -> example float).

Lemma check_separates : forall w b data, check_separable read w b data = true ->
  separates (map inject_Z w) (inject_Z b) (meaning read data).
Proof.
  intros w b data H e He. unfold check_separable in H. rewrite forallb_forall in H.
  apply in_map_iff in He. destruct He as [r [<- Hr]].
  apply (zmargin_positive (shift_of (read r))); [apply shift_large_enough |].
  apply Z.ltb_lt, H, Hr.
Qed.

Theorem separable_sound : forall w b data,
  check_separable read w b data = true -> separable (meaning read data).
Proof. intros w b data H. exists (map inject_Z w), (inject_Z b). apply check_separates, H. Qed.

Theorem separable_through_origin_sound : forall w data,
  check_separable read w 0 data = true -> separable_through_origin (meaning read data).
Proof. intros w data H. exists (map inject_Z w). exact (check_separates w 0 data H). Qed.

(** * Multipliers that pass the check leave no hyperplane *)

Lemma support_in : forall multipliers data found l e,
  In (l, e) (support read multipliers data found) ->
  In (l, e) found \/ exists r, In r data /\ read r = e.
Proof.
  induction multipliers as [| m multipliers IH]; intros [| d data] found l e H; simpl in *; auto.
  apply IH in H. destruct H as [H | [r [H1 H2]]]; [| right; exists r; auto].
  destruct (m =? 0)%Z; simpl in H; auto. destruct H as [H | H]; auto. inversion H.
  right. exists d. auto.
Qed.

Definition weigh (w : vector) (b : Q) (rows : list (Z * example float)) : Q :=
  fold_right (fun r total => inject_Z (fst r) * margin w b (exact (snd r)) + total) 0 rows.

Lemma weigh_positive : forall w b rows, rows <> [] ->
  (forall l e, In (l, e) rows -> (0 < l)%Z /\ 0 < margin w b (exact e)) -> 0 < weigh w b rows.
Proof.
  intros w b rows N H.
  assert (S : forall rest, (forall r, In r rest -> In r rows) -> 0 <= weigh w b rest).
  { induction rest as [| [l e] rest IH]; intros Hin; simpl; [lra |].
    destruct (H l e) as [H1 H2]; [apply Hin; left; reflexivity |].
    rewrite Zlt_Qlt in H1. change (inject_Z 0) with 0 in H1.
    assert (0 <= weigh w b rest) by (apply IH; intros r Hr; apply Hin; right; exact Hr).
    unfold weigh in *. nra. }
  destruct rows as [| [l e] rows]; [contradiction |]. simpl.
  destruct (H l e) as [H1 H2]; [left; reflexivity |].
  rewrite Zlt_Qlt in H1. change (inject_Z 0) with 0 in H1.
  assert (0 <= weigh w b rows) by (apply S; intros r Hr; right; exact Hr).
  unfold weigh in *. nra.
Qed.

Lemma dot_nil : forall w, dot w [] = 0.
Proof. destruct w; reflexivity. Qed.

Lemma dot_zadd : forall w u v,
  dot w (map inject_Z (zadd u v)) == dot w (map inject_Z u) + dot w (map inject_Z v).
Proof.
  induction w as [| a w IH]; intros [| b u] [| c v]; cbn [zadd map dot]; try ring.
  rewrite IH, inject_Z_plus. ring.
Qed.

Lemma dot_zero : forall w v, forallb (Z.eqb 0) v = true -> dot w (map inject_Z v) == 0.
Proof.
  induction w as [| a w IH]; intros [| b v] H; cbn [map dot]; try reflexivity.
  cbn [forallb] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1.
  rewrite (IH v H2), <- H1. change (inject_Z 0) with 0. ring.
Qed.

Lemma inject_signed : forall e l, inject_Z (signed e l) == sign e * inject_Z l.
Proof. intros e l. unfold signed, sign. destruct (is_positive e); rewrite ?inject_Z_opp; ring. Qed.

Lemma dot_scaled : forall k w l x, (forall f, In f x -> (- exponent f <= k)%Z) ->
  dot w (map inject_Z (map (scaled_product k l) x)) == inject_Z l * (2 ^ k * dot w (map value x)).
Proof.
  intros k w l. induction w as [| a w IH]; intros [| f x] H; cbn [map dot]; try ring.
  rewrite IH by (intros g Hg; apply H; right; exact Hg).
  rewrite scaled_product_exact, inject_Z_mult, scaled_exact by (apply H; left; reflexivity). ring.
Qed.

(* 2^k times the weighted sum of margins is w.(sum) + b (balance). *)
Lemma weigh_as_sum : forall k w b rows, (forall r, In r rows -> large_enough k (snd r)) ->
  2 ^ k * weigh w b rows
  == dot w (map inject_Z (zsum k rows)) + 2 ^ k * b * inject_Z (zbalance rows).
Proof.
  intros k w b rows H. induction rows as [| [l e] rows IH]; cbn [weigh fold_right zsum zbalance].
  - cbn [map]. rewrite dot_nil. change (inject_Z 0) with 0. ring.
  - fold (weigh w b rows). rewrite dot_zadd, Qmult_plus_distr_r.
    rewrite IH by (intros r Hr; apply H; right; exact Hr).
    rewrite dot_scaled by (apply (H (l, e)); left; reflexivity).
    rewrite inject_Z_plus, !inject_signed. unfold margin, exact, sign.
    cbn [fst snd is_positive features]. ring.
Qed.

Lemma sum_leaves_no_separator : forall multipliers data w b,
  check_sum (support read multipliers data []) = true ->
  b * inject_Z (zbalance (support read multipliers data [])) == 0 ->
  ~ separates w b (meaning read data).
Proof.
  intros multipliers data w b H B S.
  assert (In_data : forall l e, In (l, e) (support read multipliers data []) ->
    In (exact e) (meaning read data)).
  { intros l e Hle. apply support_in in Hle. destruct Hle as [[] | [r [Hr <-]]].
    unfold meaning. apply (in_map (fun r => exact (read r))), Hr. }
  set (rows := support read multipliers data []) in *.
  assert (N : rows <> []) by (intros N; rewrite N in H; discriminate).
  assert (C : forallb (fun r => 0 <? fst r)%Z rows
    && forallb (Z.eqb 0) (zsum (shift_of_all (map snd rows)) rows) = true)
    by (unfold check_sum in H; destruct rows; [discriminate | exact H]).
  apply andb_prop in C. destruct C as [P Z]. rewrite forallb_forall in P.
  assert (0 < weigh w b rows).
  { apply weigh_positive; [exact N |]. intros l e Hle. split.
    - apply Z.ltb_lt, (P (l, e) Hle).
    - apply S, (In_data l), Hle. }
  assert (E := weigh_as_sum (shift_of_all (map snd rows)) w b rows).
  rewrite (dot_zero w _ Z), <- Qmult_assoc, B in E.
  assert (0 < 2 ^ shift_of_all (map snd rows)) by apply power_positive.
  enough (2 ^ shift_of_all (map snd rows) * weigh w b rows == 0) by nra.
  rewrite E; [ring |]. intros r Hr. apply shift_of_all_large_enough, in_map, Hr.
Qed.

Theorem inseparable_sound : forall multipliers data,
  check_inseparable read multipliers data = true -> ~ separable (meaning read data).
Proof.
  intros multipliers data H [w [b S]]. unfold check_inseparable in H.
  apply andb_prop in H. destruct H as [H B]. apply Z.eqb_eq in B.
  apply (sum_leaves_no_separator multipliers data w b H); [| exact S].
  rewrite B. change (inject_Z 0) with 0. ring.
Qed.

Theorem inseparable_through_origin_sound : forall multipliers data,
  check_inseparable_through_origin read multipliers data = true ->
  ~ separable_through_origin (meaning read data).
Proof.
  intros multipliers data H [w S]. apply (sum_leaves_no_separator multipliers data w 0 H); [| exact S].
  ring.
Qed.
End Soundness.
