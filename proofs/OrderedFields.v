(* Weights may be real numbers. A certificate of inseparability leaves no hyperplane in any ordered
   field, of which the rationals and the reals are two; Coq's own reals would bring in axioms. *)
Require Import ZArith List Bool Lia Ring InitialRing Setoid.
From Rosenblatt Require Import Separability.
Import ListNotations.

Record ordered_field := {
  number :> Type;
  zero : number;
  one : number;
  plus : number -> number -> number;
  times : number -> number -> number;
  minus : number -> number -> number;
  opposite : number -> number;
  inverse : number -> number;
  less : number -> number -> Prop;
  ring_laws : ring_theory zero one plus times minus opposite eq;
  inverse_law : forall a, less zero a -> times a (inverse a) = one;
  less_irreflexive : forall a, ~ less a a;
  less_transitive : forall a b c, less a b -> less b c -> less a c;
  less_plus : forall a b c, less a b -> less (plus a c) (plus b c);
  less_times : forall a b, less zero a -> less zero b -> less zero (times a b);
  zero_less_one : less zero one
}.

Section Field.
Variable F : ordered_field.
Add Ring F_ring : (ring_laws F).
Notation "0" := (zero F).
Notation "1" := (one F).
Infix "+" := (plus F).
Infix "*" := (times F).
Infix "<" := (less F).

(** * Integers and floating-point numbers in the field *)

Definition of_integer : Z -> F := gen_phiZ 0 1 (plus F) (times F) (opposite F).
Definition morphism := gen_phiZ_morph (Eqsth F) (Eq_ext (plus F) (times F) (opposite F)) (ring_laws F).

Lemma of_plus : forall a b, of_integer (a + b) = of_integer a + of_integer b.
Proof. exact (morph_add morphism). Qed.
Lemma of_times : forall a b, of_integer (a * b) = of_integer a * of_integer b.
Proof. exact (morph_mul morphism). Qed.
Lemma of_opposite : forall a, of_integer (- a) = opposite F (of_integer a).
Proof. exact (morph_opp morphism). Qed.
Lemma of_zero : of_integer 0 = 0.
Proof. exact (morph0 morphism). Qed.
Lemma of_one : of_integer 1 = 1.
Proof. exact (morph1 morphism). Qed.

Lemma plus_positive : forall a b, 0 < a -> 0 < b -> 0 < a + b.
Proof.
  intros a b Ha Hb. apply (less_transitive F 0 b); [exact Hb |].
  replace b with (0 + b) at 1 by ring. apply less_plus, Ha.
Qed.

Lemma of_positive : forall z, (0 < z)%Z -> 0 < of_integer z.
Proof.
  intros z Hz. replace z with (Z.succ (Z.pred z)) by lia.
  assert (H : (0 <= Z.pred z)%Z) by lia. revert H. generalize (Z.pred z). clear z Hz.
  apply natlike_ind.
  - change (Z.succ 0) with 1%Z. rewrite of_one. apply zero_less_one.
  - intros z Hz IH. rewrite <- (Z.add_1_r (Z.succ z)), of_plus, of_one. apply plus_positive; [exact IH |].
    apply zero_less_one.
Qed.

Definition power (e : Z) : F :=
  if (0 <=? e)%Z then of_integer (2 ^ e) else inverse F (of_integer (2 ^ (- e))).
Definition number_of (f : float) : F := of_integer (mantissa f) * power (exponent f).

Lemma scaled_number : forall k f, (0 <= k)%Z -> (- exponent f <= k)%Z ->
  of_integer (scaled k f) = of_integer (2 ^ k) * number_of f.
Proof.
  intros k f Hk H. unfold scaled, number_of, power.
  rewrite Z.shiftl_mul_pow2, of_times by lia. destruct (Z.leb_spec 0 (exponent f)) as [E | E].
  - rewrite Z.pow_add_r, of_times by lia. ring.
  - replace (2 ^ k)%Z with (2 ^ (exponent f + k) * 2 ^ (- exponent f))%Z
      by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    assert (P : 0 < of_integer (2 ^ (- exponent f)))
      by (apply of_positive, Z.pow_pos_nonneg; lia).
    assert (I := inverse_law F _ P). rewrite of_times.
    set (a := of_integer (2 ^ (- exponent f))) in *. set (b := of_integer (2 ^ (exponent f + k))).
    set (m := of_integer (mantissa f)).
    replace (b * a * (m * inverse F a)) with (m * b * (a * inverse F a)) by ring.
    rewrite I. ring.
Qed.

(** * Margins and separability, as for rationals *)

Fixpoint dot_product (u v : list F) : F :=
  match u, v with
  | a :: u', b :: v' => a * b + dot_product u' v'
  | _, _ => 0
  end.
Definition sign_of (e : example float) : F := if is_positive e then 1 else opposite F 1.
Definition margin_of (w : list F) (b : F) (e : example float) : F :=
  sign_of e * (dot_product w (map number_of (features e)) + b).
Definition separates_in (w : list F) (b : F) (data : list (example float)) : Prop :=
  forall e, In e data -> 0 < margin_of w b e.

Lemma product_zadd : forall w u v, dot_product w (map of_integer (zadd u v))
  = dot_product w (map of_integer u) + dot_product w (map of_integer v).
Proof.
  induction w as [| a w IH]; intros [| b u] [| c v]; cbn [zadd map dot_product]; try ring.
  rewrite IH, of_plus. ring.
Qed.

Lemma product_zero : forall w v, forallb (Z.eqb 0) v = true ->
  dot_product w (map of_integer v) = 0.
Proof.
  induction w as [| a w IH]; intros [| b v] H; cbn [map dot_product]; try reflexivity.
  cbn [forallb] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1.
  rewrite (IH v H2), <- H1, of_zero. ring.
Qed.

Lemma product_scaled : forall k w l x, (0 <= k)%Z ->
  (forall f, In f x -> (- exponent f <= k)%Z) ->
  dot_product w (map of_integer (map (scaled_product k l) x))
  = of_integer l * (of_integer (2 ^ k) * dot_product w (map number_of x)).
Proof.
  intros k w l x Hk. revert x. induction w as [| a w IH]; intros [| f x] H;
    cbn [map dot_product]; try ring.
  rewrite IH by (intros g Hg; apply H; right; exact Hg).
  rewrite scaled_product_exact, of_times, scaled_number by (auto; apply H; left; reflexivity). ring.
Qed.

Lemma of_signed : forall e l, of_integer (signed e l) = sign_of e * of_integer l.
Proof. intros e l. unfold signed, sign_of. destruct (is_positive e); rewrite ?of_opposite; ring. Qed.

Definition weighted (w : list F) (b : F) (rows : list (Z * example float)) : F :=
  fold_right (fun r total => of_integer (fst r) * margin_of w b (snd r) + total) 0 rows.

Lemma weighted_positive : forall w b rows, rows <> [] ->
  (forall l e, In (l, e) rows -> (0 < l)%Z /\ 0 < margin_of w b e) -> 0 < weighted w b rows.
Proof.
  intros w b rows N H. induction rows as [| [l e] rows IH]; [contradiction |]. cbn [weighted fold_right].
  fold (weighted w b rows). cbn [fst snd].
  destruct (H l e) as [H1 H2]; [left; reflexivity |].
  assert (T : 0 < of_integer l * margin_of w b e) by (apply less_times; [apply of_positive |]; assumption).
  destruct rows as [| r rows].
  - cbn [weighted fold_right]. replace (of_integer l * margin_of w b e + 0)
      with (of_integer l * margin_of w b e) by ring. exact T.
  - apply plus_positive; [exact T |]. apply IH; [discriminate |].
    intros l' e' H'. apply H. right. exact H'.
Qed.

Lemma weighted_as_sum : forall k w b rows, (forall r, In r rows -> large_enough k (snd r)) ->
  of_integer (2 ^ k) * weighted w b rows
  = dot_product w (map of_integer (zsum k rows)) + of_integer (2 ^ k) * b * of_integer (zbalance rows).
Proof.
  intros k w b rows H. induction rows as [| [l e] rows IH].
  - cbn [weighted fold_right zsum zbalance map]. rewrite of_zero.
    destruct w; cbn [dot_product]; ring.
  - cbn [weighted fold_right zsum zbalance fst snd]. fold (weighted w b rows).
    destruct (H (l, e)) as [Hk He]; [left; reflexivity |].
    replace (of_integer (2 ^ k) * (of_integer l * margin_of w b e + weighted w b rows))
      with (of_integer (2 ^ k) * (of_integer l * margin_of w b e)
        + of_integer (2 ^ k) * weighted w b rows) by ring.
    rewrite IH by (intros r Hr; apply H; right; exact Hr).
    rewrite product_zadd, product_scaled, of_plus, !of_signed by assumption.
    unfold margin_of. ring.
Qed.

Lemma sum_leaves_no_separator_in_field : forall row (read : row -> example float) multipliers data w b,
  check_sum (support read multipliers data []) = true ->
  b * of_integer (zbalance (support read multipliers data [])) = 0 ->
  ~ separates_in w b (map read data).
Proof.
  intros row read multipliers data w b H B S.
  assert (In_data : forall l e, In (l, e) (support read multipliers data []) -> In e (map read data)).
  { intros l e Hle. apply support_in in Hle. destruct Hle as [[] | [r [Hr <-]]]. apply in_map, Hr. }
  set (rows := support read multipliers data []) in *.
  assert (N : rows <> []) by (intros N; rewrite N in H; discriminate).
  assert (C : forallb (fun r => 0 <? fst r)%Z rows
    && forallb (Z.eqb 0) (zsum (shift_of_all (map snd rows)) rows) = true)
    by (unfold check_sum in H; destruct rows; [discriminate | exact H]).
  apply andb_prop in C. destruct C as [P Z]. rewrite forallb_forall in P.
  assert (W : 0 < weighted w b rows).
  { apply weighted_positive; [exact N |]. intros l e Hle. split.
    - apply Z.ltb_lt, (P (l, e) Hle).
    - apply S, (In_data l), Hle. }
  set (k := shift_of_all (map snd rows)) in *.
  assert (L : forall r, In r rows -> large_enough k (snd r))
    by (intros r Hr; apply shift_of_all_large_enough, in_map, Hr).
  assert (K : (0 <= k)%Z) by (destruct rows as [| r rows]; [contradiction | apply (L r); left; reflexivity]).
  assert (E := weighted_as_sum k w b rows L). rewrite (product_zero w _ Z) in E.
  replace (of_integer (2 ^ k) * b * of_integer (zbalance rows))
    with (of_integer (2 ^ k) * (b * of_integer (zbalance rows))) in E by ring.
  rewrite B in E. apply (less_irreflexive F 0).
  replace 0 with (of_integer (2 ^ k) * weighted w b rows) at 2 by (rewrite E; ring).
  apply less_times; [apply of_positive, Z.pow_pos_nonneg; lia | exact W].
Qed.

Theorem inseparable_in_every_ordered_field : forall row (read : row -> example float) multipliers data,
  check_inseparable read multipliers data = true -> ~ exists w b, separates_in w b (map read data).
Proof.
  intros row read multipliers data H [w [b S]]. unfold check_inseparable in H.
  apply andb_prop in H. destruct H as [H B]. apply Z.eqb_eq in B.
  apply (sum_leaves_no_separator_in_field row read multipliers data w b H); [| exact S].
  rewrite B, of_zero. ring.
Qed.

Theorem inseparable_through_origin_in_every_ordered_field :
  forall row (read : row -> example float) multipliers data,
  check_inseparable_through_origin read multipliers data = true ->
  ~ exists w, separates_in w 0 (map read data).
Proof.
  intros row read multipliers data H [w S].
  apply (sum_leaves_no_separator_in_field row read multipliers data w 0 H); [ring | exact S].
Qed.
End Field.
