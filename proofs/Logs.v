(* Checkers of the log of one run, and of a number that bounds the mistakes of every run. *)
Require Import QArith Qpower ZArith List Bool Lia Lqa Setoid.
From Rosenblatt Require Import Separability Convergence.
Import ListNotations.
Open Scope Q_scope.

(** * The log of a run: the rows on which it made its mistakes, counted from 0 *)

Section Checkers.
Variables (row : Type) (read : row -> example float).

Section Replay.
Variables (k zstep zdemand : Z) (data : list row).
(* The number to compare with the demand, times 4^k; n is the bias in steps. *)
Definition zactivation (w : list Z) (n : Z) (e : example float) : Z :=
  signed e (zdot_onto (zstep * n) w (map (scaled k) (features e))).
Definition zmoved (w : list Z) (e : example float) : list Z :=
  zadd w (map (fun f => signed e (scaled k f)) (features e)).
Fixpoint replay (log : list N) (w : list Z) (n : Z) : option (list Z * Z) :=
  match log with
  | [] => Some (w, n)
  | i :: rest =>
      match nth_error data (N.to_nat i) with
      | None => None
      | Some r =>
          let e := read r in
          if (zactivation w n e <=? zdemand)%Z then replay rest (zmoved w e) (n + signed e 1) else None
      end
  end.
End Replay.

Definition shift_of_run (step demand : float) (data : list row) : Z :=
  fold_left (fun k r => Z.max k (shift_of (read r))) data
    (Z.max 0 (Z.max (- exponent step) (- exponent demand))).
(* The weights after the log, if each of its rows was a mistake. *)
Definition final_weights (step demand : float) (data : list row) (log : list N) :=
  let k := shift_of_run step demand data in
  replay k (scaled (2 * k) step) (scaled (2 * k) demand) data log [] 0.
Definition check_run (step demand : float) (data : list row) (log : list N) : bool :=
  match final_weights step demand data log with Some _ => true | None => false end.
Definition check_separating_run (step demand : float) (data : list row) (log : list N) : bool :=
  let k := shift_of_run step demand data in
  match final_weights step demand data log with
  | Some (w, n) => forallb (fun r => 0 <? zactivation k (scaled (2 * k) step) w n (read r))%Z data
  | None => false
  end.

Definition same (k : Z) (z : Z) (q : Q) : Prop := inject_Z z == 2 ^ k * q.

Lemma zdot_same : forall k wi w, Forall2 (same k) wi w ->
  forall x total, (forall f, In f x -> (- exponent f <= k)%Z) ->
  inject_Z (zdot_onto total wi (map (scaled k) x))
  == inject_Z total + 2 ^ k * 2 ^ k * dot w (map value x).
Proof.
  intros k wi w H. induction H as [| z q wi w Hz H IH]; intros [| f x] total Hx;
    cbn [map dot zdot_onto]; try ring.
  rewrite IH by (intros g Hg; apply Hx; right; exact Hg). unfold same in Hz.
  rewrite inject_Z_plus, inject_Z_mult, scaled_exact, Hz by (apply Hx; left; reflexivity). ring.
Qed.

Lemma zactivation_exact : forall k zstep step wi w n e, large_enough k e ->
  Forall2 (same k) wi w -> inject_Z zstep == 2 ^ k * 2 ^ k * step ->
  inject_Z (zactivation k zstep wi n e) == 2 ^ k * 2 ^ k * margin w (step * inject_Z n) (exact e).
Proof.
  intros k zstep step wi w n e [Hk He] Hw Hs. unfold zactivation.
  rewrite inject_signed, (zdot_same k wi w Hw), inject_Z_mult, Hs by exact He.
  unfold margin, exact, sign. cbn [features is_positive]. ring.
Qed.

Lemma zadd_same : forall k wi w vi v, Forall2 (same k) wi w -> Forall2 (same k) vi v ->
  Forall2 (same k) (zadd wi vi) (add w v).
Proof.
  intros k wi w vi v H. revert vi v. induction H as [| z q wi w Hz H IH]; intros vi v V.
  - destruct V; simpl; constructor; assumption.
  - destruct V as [| z' q' vi v Hz' V]; simpl; constructor; auto.
    unfold same in *. rewrite inject_Z_plus, Hz, Hz'. ring.
Qed.

Lemma features_same : forall k e, large_enough k e ->
  Forall2 (same k) (map (fun f => signed e (scaled k f)) (features e))
    (scale (sign (exact e)) (features (exact e))).
Proof.
  intros k e [Hk He]. unfold exact, scale, sign. cbn [features is_positive].
  fold (sign e). induction (features e) as [| f x IH]; cbn [map]; constructor.
  - unfold same. rewrite inject_signed, scaled_exact by (apply He; left; reflexivity).
    unfold sign. ring.
  - apply IH. intros g Hg. apply He. right. exact Hg.
Qed.

(* The states of the replay are those of a run, up to the scale of the numbers. *)
Definition run_of (k : Z) (step demand : Q) data (wi : list Z) (n : Z) (m : nat) : Prop :=
  exists w b, Forall2 (same k) wi w /\ b == step * inject_Z n
    /\ run step demand (meaning read data) w b m.

Lemma replay_sound : forall k zstep zdemand step demand data,
  (forall r, In r data -> large_enough k (read r)) ->
  inject_Z zstep == 2 ^ k * 2 ^ k * step -> inject_Z zdemand == 2 ^ k * 2 ^ k * demand ->
  forall log wi n m wi' n', run_of k step demand data wi n m ->
  replay k zstep zdemand data log wi n = Some (wi', n') ->
  run_of k step demand data wi' n' (length log + m).
Proof.
  intros k zstep zdemand step demand data L Hs Hd.
  induction log as [| i log IH]; intros wi n m wi' n' R E; cbn [replay] in E.
  - inversion E; subst. exact R.
  - destruct (nth_error data (N.to_nat i)) as [r |] eqn:N; [| discriminate].
    apply nth_error_In in N. cbv zeta in E. assert (Le := L r N).
    assert (In_data : In (exact (read r)) (meaning read data))
      by (apply (in_map (fun r => exact (read r))), N).
    set (e := read r) in *.
    destruct (Z.leb_spec (zactivation k zstep wi n e) zdemand) as [M | M]; [| discriminate].
    cbn [length]. replace (S (length log) + m)%nat with (length log + S m)%nat by lia.
    refine (IH _ _ _ _ _ _ E).
    destruct R as [w [b [W [B R]]]].
    exists (moved w (exact e)), (b + sign (exact e) * step).
    repeat split.
    + unfold zmoved, moved. apply zadd_same; [exact W | apply features_same, Le].
    + rewrite B, inject_Z_plus, inject_signed. unfold exact, sign. cbn [is_positive].
      change (inject_Z 1) with 1. ring.
    + apply mistake; [exact R | exact In_data |].
      rewrite Zle_Qle, (zactivation_exact k zstep step wi w n e Le W Hs), Hd in M.
      rewrite (margin_bias w b (step * inject_Z n)) by exact B.
      apply (Qmult_le_l _ _ (2 ^ k * 2 ^ k)); [| exact M].
      apply Qmult_lt_0_compat; apply power_positive.
Qed.

Lemma scaled_twice : forall k f, (0 <= k)%Z -> (- exponent f <= k)%Z ->
  inject_Z (scaled (2 * k) f) == 2 ^ k * 2 ^ k * value f.
Proof.
  intros k f Hk H. rewrite scaled_exact by lia.
  replace (2 * k)%Z with (k + k)%Z by lia. rewrite Qpower_plus by discriminate. reflexivity.
Qed.

Lemma shift_of_run_enough : forall step demand data, let k := shift_of_run step demand data in
  (0 <= k)%Z /\ (- exponent step <= k)%Z /\ (- exponent demand <= k)%Z
  /\ (forall r, In r data -> large_enough k (read r)).
Proof.
  intros step demand data k.
  destruct (fold_max_above _ (fun r => shift_of (read r)) data
    (Z.max 0 (Z.max (- exponent step) (- exponent demand)))) as [H1 H2].
  fold (shift_of_run step demand data) in H1, H2. fold k in H1, H2. repeat split; try lia.
  intros f Hf. specialize (H2 r H). destruct (shift_large_enough (read r)) as [_ L].
  specialize (L f Hf). lia.
Qed.

Lemma final_weights_sound : forall step demand data log wi n,
  final_weights step demand data log = Some (wi, n) ->
  run_of (shift_of_run step demand data) (value step) (value demand) data wi n (length log).
Proof.
  intros step demand data log wi n E.
  destruct (shift_of_run_enough step demand data) as [K [S [D L]]].
  rewrite <- (Nat.add_0_r (length log)). unfold final_weights in E.
  eapply replay_sound; try eassumption.
  - apply scaled_twice; assumption.
  - apply scaled_twice; assumption.
  - exists [], 0. repeat split; [constructor | | constructor]. change (inject_Z 0) with 0. ring.
Qed.

(* The log is that of a run on these rows, with as many mistakes as it has entries. *)
Theorem run_sound : forall step demand data log, check_run step demand data log = true ->
  exists w b, run (value step) (value demand) (meaning read data) w b (length log).
Proof.
  intros step demand data log H. unfold check_run in H.
  destruct (final_weights step demand data log) as [[wi n] |] eqn:E; [| discriminate].
  destruct (final_weights_sound _ _ _ _ _ _ E) as [w [b [_ [_ R]]]]. exists w, b. exact R.
Qed.

(* Its last weights separate the rows. *)
Theorem separating_run_sound : forall step demand data log,
  check_separating_run step demand data log = true ->
  exists w b, run (value step) (value demand) (meaning read data) w b (length log)
    /\ separates w b (meaning read data).
Proof.
  intros step demand data log H. unfold check_separating_run in H.
  destruct (final_weights step demand data log) as [[wi n] |] eqn:E; [| discriminate].
  destruct (final_weights_sound _ _ _ _ _ _ E) as [w [b [W [B R]]]]. exists w, b.
  split; [exact R |]. intros e He. apply in_map_iff in He. destruct He as [r [<- Hr']].
  destruct (shift_of_run_enough step demand data) as [K [S [D L]]].
  rewrite forallb_forall in H. specialize (H r Hr'). apply Z.ltb_lt in H.
  rewrite Zlt_Qlt, (zactivation_exact _ _ (value step) wi w n (read r) (L r Hr') W) in H
    by (apply scaled_twice; assumption).
  rewrite (margin_bias w b (value step * inject_Z n)) by exact B.
  set (k := shift_of_run step demand data) in *.
  apply (Qmult_lt_l _ _ (2 ^ k * 2 ^ k)); [apply Qmult_lt_0_compat; apply power_positive |].
  rewrite Qmult_0_r. exact H.
Qed.

(** * A number that bounds the mistakes of every run on these rows *)

Definition znorm2 (k : Z) (e : example float) : Z :=
  let x := map (scaled k) (features e) in zdot_onto 0 x x.
Definition check_bound (step demand : float) (u : list Z) (c bound : Z) (data : list row) : bool :=
  match data with
  | [] => false
  | first :: _ =>
      let k := shift_of_run step demand data in
      let margin_of r := zmargin k u c (read r) in
      let g := (- fold_left (fun g r => Z.max g (- margin_of r)) data (- margin_of first))%Z in
      let r2 := fold_left (fun r2 r => Z.max r2 (znorm2 k (read r))) data 0%Z in
      let s := scaled (2 * k) step in
      let d := scaled (2 * k) demand in
      let u2 := zdot_onto 0 u u in
      (0 <? g)%Z && (0 <=? s)%Z && (0 <=? d)%Z &&
      if (s =? 0)%Z
      then (c =? 0)%Z && ((r2 + 2 * d) * u2 <? (bound + 1) * (g * g))%Z
      else ((r2 + s + 2 * d) * (s * u2 + Z.shiftl (c * c) (2 * k)) <? (bound + 1) * (s * (g * g)))%Z
  end.

Lemma znorm2_exact : forall k e, large_enough k e ->
  inject_Z (znorm2 k e) == 2 ^ k * 2 ^ k * norm2 (features (exact e)).
Proof.
  intros k e [Hk He]. unfold znorm2, norm2, exact. cbn [features].
  rewrite (zdot_same k _ (map value (features e))); [change (inject_Z 0) with 0; ring | | exact He].
  clear Hk. induction (features e) as [| f x IH]; cbn [map]; constructor.
  - apply scaled_exact, He. left. reflexivity.
  - apply IH. intros g Hg. apply He. right. exact Hg.
Qed.

Lemma zdot_plain : forall u v total,
  inject_Z (zdot_onto total u v) == inject_Z total + dot (map inject_Z u) (map inject_Z v).
Proof.
  induction u as [| a u IH]; intros [| b v] total; cbn [zdot_onto map dot]; try ring.
  rewrite IH, inject_Z_plus, inject_Z_mult. ring.
Qed.

(* What the two ways to compare whole numbers in check_bound mean; P is 4^k. *)
Lemma bound_with_bias : forall P M B G r s d U c, 0 < P -> 0 < s -> 0 < G ->
  M * (G * G / P) <= (r / P + s / P + 2 * (d / P)) * (U + s / P * (c / (s / P) * (c / (s / P)))) ->
  (r + s + 2 * d) * (s * U + c * c * P) < (B + 1) * (s * (G * G)) -> M < B + 1.
Proof.
  intros P M B G r s d U c HP Hs HG N H.
  apply (Qmult_lt_r _ _ (s * (G * G))); [repeat apply Qmult_lt_0_compat; assumption |].
  eapply Qle_lt_trans; [| exact H].
  assert (E : (r + s + 2 * d) * (s * U + c * c * P)
    == P * s * ((r / P + s / P + 2 * (d / P)) * (U + s / P * (c / (s / P) * (c / (s / P))))))
    by (field; split; lra).
  assert (F : M * (s * (G * G)) == P * s * (M * (G * G / P))) by (field; lra).
  rewrite E, F. rewrite !(Qmult_comm (P * s)). apply Qmult_le_compat_r; [exact N | nra].
Qed.

Lemma bound_through_origin : forall P M B G r d U, 0 < P -> 0 < G ->
  M * (G * G / P) <= (r / P + 0 + 2 * (d / P)) * (U + 0 * (0 * 0)) ->
  (r + 2 * d) * U < (B + 1) * (G * G) -> M < B + 1.
Proof.
  intros P M B G r d U HP HG N H.
  apply (Qmult_lt_r _ _ (G * G)); [apply Qmult_lt_0_compat; assumption |].
  eapply Qle_lt_trans; [| exact H].
  assert (E : (r + 2 * d) * U == P * ((r / P + 0 + 2 * (d / P)) * (U + 0 * (0 * 0)))) by (field; lra).
  assert (F : M * (G * G) == P * (M * (G * G / P))) by (field; lra).
  rewrite E, F. rewrite !(Qmult_comm P). apply Qmult_le_compat_r; [exact N | lra].
Qed.

Theorem bound_sound : forall step demand u c bound data,
  check_bound step demand u c bound data = true ->
  forall w b m, run (value step) (value demand) (meaning read data) w b m ->
  (Z.of_nat m <= bound)%Z.
Proof.
  intros step demand u c bound data H w b m R.
  destruct (shift_of_run_enough step demand data) as [K [S [D L]]].
  unfold check_bound in H. destruct data as [| first rest]; [discriminate |].
  set (data := first :: rest) in *. set (k := shift_of_run step demand data) in *.
  cbv zeta in H.
  match type of H with context [fold_left ?f data (- ?z)%Z] =>
    set (top := fold_left f data (- z)%Z) in H end.
  match type of H with context [fold_left ?f data 0%Z] => set (r2 := fold_left f data 0%Z) in H end.
  assert (Hg : forall r, In r data -> (- top <= zmargin k u c (read r))%Z).
  { intros r Hr.
    assert (F := proj2 (fold_max_above _ (fun r => - zmargin k u c (read r))%Z data
      (- zmargin k u c (read first))%Z) r Hr).
    cbv beta in F. fold top in F. lia. }
  assert (Hr0 : (0 <= r2)%Z) by apply (fold_max_above _ (fun r => znorm2 k (read r)) data 0%Z).
  assert (Hr : forall r, In r data -> (znorm2 k (read r) <= r2)%Z)
    by apply (fold_max_above _ (fun r => znorm2 k (read r)) data 0%Z).
  clearbody top r2. apply andb_prop in H. destruct H as [H T].
  apply andb_prop in H. destruct H as [H Hd]. apply andb_prop in H. destruct H as [Htop Hs].
  apply Z.ltb_lt in Htop. apply Z.leb_le in Hs, Hd. set (G := inject_Z (- top)).
  assert (HG : 0 < G) by (unfold G; rewrite Zlt_Qlt in Htop; exact Htop).
  assert (P := power_positive k). set (p := 2 ^ k) in *.
  assert (HP : 0 < p * p) by nra.
  assert (Es := scaled_twice k step K S). assert (Ed := scaled_twice k demand K D). fold p in Es, Ed.
  set (s := scaled (2 * k) step) in *. set (d := scaled (2 * k) demand) in *.
  rewrite Zle_Qle in Hs, Hd, Hr0. change (inject_Z 0) with 0 in Hs, Hd, Hr0.
  assert (Vs : value step == inject_Z s / (p * p)) by (rewrite Es; field; lra).
  assert (Vd : value demand == inject_Z d / (p * p)) by (rewrite Ed; field; lra).
  assert (Ps : 0 <= value step) by (rewrite Vs; apply Qle_shift_div_l; lra).
  assert (Pd : 0 <= value demand) by (rewrite Vd; apply Qle_shift_div_l; lra).
  assert (PR : 0 <= inject_Z r2 / (p * p)) by (apply Qle_shift_div_l; lra).
  assert (PG : 0 <= G / p) by (apply Qle_shift_div_l; lra).
  assert (Radius : forall e, In e (meaning read data) -> norm2 (features e) <= inject_Z r2 / (p * p)).
  { intros e He. apply in_map_iff in He. destruct He as [r [<- Hr']].
    apply Qle_shift_div_l; [exact HP |]. specialize (Hr r Hr'). rewrite Zle_Qle in Hr.
    rewrite znorm2_exact in Hr by (apply L, Hr'). fold p in Hr. rewrite Qmult_comm. exact Hr. }
  assert (Margins : forall e, In e (meaning read data) -> G / p <= margin (map inject_Z u) (inject_Z c) e).
  { intros e He. apply in_map_iff in He. destruct He as [r [<- Hr']].
    apply Qle_shift_div_r; [exact P |]. specialize (Hg r Hr'). rewrite Zle_Qle in Hg.
    rewrite scaling_harmless in Hg by (apply L, Hr'). fold p in Hg. rewrite Qmult_comm. exact Hg. }
  assert (N := fun c' A => novikoff (value step) (value demand) (meaning read data) Ps Pd
    (inject_Z r2 / (p * p)) PR Radius (map inject_Z u) c' (G / p) PG A w b m R).
  assert (U := zdot_plain u u 0). change (inject_Z 0) with 0 in U. rewrite Qplus_0_l in U.
  fold (norm2 (map inject_Z u)) in U.
  assert (GG : G / p * (G / p) == G * G / (p * p)) by (field; lra).
  enough (Q : count m < inject_Z bound + 1).
  { unfold count in Q. change 1 with (inject_Z 1) in Q. rewrite <- inject_Z_plus, <- Zlt_Qlt in Q. lia. }
  destruct (Z.eqb_spec s 0) as [Z | Z].
  - apply andb_prop in T. destruct T as [Tc T]. apply Z.eqb_eq in Tc. apply Z.ltb_lt in T.
    rewrite Zlt_Qlt in T. repeat rewrite ?inject_Z_mult, ?inject_Z_plus in T. fold G in T. rewrite U in T.
    assert (V0 : value step == 0) by (rewrite Vs, Z; change (inject_Z 0) with 0; field; lra).
    specialize (N 0). rewrite V0, Vd, GG in N.
    apply (bound_through_origin (p * p) _ _ G (inject_Z r2) (inject_Z d) (norm2 (map inject_Z u)));
      try assumption.
    apply N. intros e He. rewrite (margin_bias _ _ (inject_Z c)); [apply Margins, He |].
    rewrite Tc. change (inject_Z 0) with 0. ring.
  - apply Z.ltb_lt in T. rewrite Zlt_Qlt, Z.shiftl_mul_pow2 in T by lia.
    repeat rewrite ?inject_Z_mult, ?inject_Z_plus in T. fold G in T.
    rewrite U, power_of_two in T by lia.
    assert (E2 : 2 ^ (2 * k) == p * p)
      by (unfold p; replace (2 * k)%Z with (k + k)%Z by lia; apply Qpower_plus; discriminate).
    rewrite E2 in T.
    assert (Ss : 0 < inject_Z s)
      by (apply Qle_lteq in Hs; destruct Hs as [Hs | Hs]; [exact Hs |];
        exfalso; apply Z, inject_Z_injective; rewrite <- Hs; reflexivity).
    specialize (N (inject_Z c / (inject_Z s / (p * p)))). rewrite Vs, Vd, GG in N.
    apply (bound_with_bias (p * p) _ _ G (inject_Z r2) (inject_Z s) (inject_Z d)
      (norm2 (map inject_Z u)) (inject_Z c)); try assumption.
    apply N. intros e He. rewrite (margin_bias _ _ (inject_Z c)); [apply Margins, He |].
    rewrite Vs. field. split; lra.
Qed.
End Checkers.
Arguments check_run {row}.
Arguments check_separating_run {row}.
Arguments check_bound {row}.
