(* The perceptron convergence theorem, for every run.
   A mistake on (x, y) adds y x to w and y step to b. The step is 0 through the origin, 1 by default,
   and R^2 in Cristianini & Shawe-Taylor (2000). With demand > 0, rows whose margin does not exceed
   the demand count as mistakes, too. *)
Require Import QArith Qpower ZArith List Bool Lia Lqa Setoid.
From Rosenblatt Require Import Separability.
Import ListNotations.
Open Scope Q_scope.

(** * Runs *)

Fixpoint add (u v : vector) : vector :=
  match u, v with
  | a :: u', b :: v' => a + b :: add u' v'
  | [], v => v
  | u, [] => u
  end.
Definition scale (c : Q) (v : vector) : vector := map (Qmult c) v.
Definition moved (w : vector) (e : example Q) : vector := add w (scale (sign e) (features e)).

(* run step demand data w b m: m mistakes, in any order of rows, lead from zero to w and b. *)
Inductive run (step demand : Q) (data : list (example Q)) : vector -> Q -> nat -> Prop :=
  | start : run step demand data [] 0 0
  | mistake : forall w b m e, run step demand data w b m ->
      In e data -> margin w b e <= demand ->
      run step demand data (moved w e) (b + sign e * step) (S m).

(* One pass over rows in a given order, from w, b and m mistakes to w', b' and m' mistakes. *)
Inductive pass (step demand : Q) :
    list (example Q) -> vector -> Q -> nat -> vector -> Q -> nat -> Prop :=
  | pass_end : forall w b m, pass step demand [] w b m w b m
  | pass_right : forall e order w b m w' b' m', demand < margin w b e ->
      pass step demand order w b m w' b' m' -> pass step demand (e :: order) w b m w' b' m'
  | pass_mistake : forall e order w b m w' b' m', margin w b e <= demand ->
      pass step demand order (moved w e) (b + sign e * step) (S m) w' b' m' ->
      pass step demand (e :: order) w b m w' b' m'.

(* A run that sums the weights after each of t visits (sum_w, sum_b: t times the average), and the
   number of mistakes so far at each of them (k). *)
Inductive averaged_run (step demand : Q) (data : list (example Q)) :
    vector -> Q -> nat -> vector -> Q -> nat -> nat -> Prop :=
  | averaged_start : averaged_run step demand data [] 0 0 [] 0 0 0
  | averaged_right : forall w b m sum_w sum_b t k e,
      averaged_run step demand data w b m sum_w sum_b t k ->
      In e data -> demand < margin w b e ->
      averaged_run step demand data w b m (add sum_w w) (sum_b + b) (S t) (k + m)
  | averaged_mistake : forall w b m sum_w sum_b t k e,
      averaged_run step demand data w b m sum_w sum_b t k ->
      In e data -> margin w b e <= demand ->
      averaged_run step demand data (moved w e) (b + sign e * step) (S m)
        (add sum_w (moved w e)) (sum_b + (b + sign e * step)) (S t) (k + S m).

Definition norm2 (v : vector) : Q := dot v v.
Definition count (n : nat) : Q := inject_Z (Z.of_nat n).

(** * Vectors *)

Lemma dot_comm : forall u v, dot u v == dot v u.
Proof.
  induction u as [| a u IH]; intros [| b v]; cbn [dot]; try reflexivity. rewrite IH. ring.
Qed.

Lemma dot_add : forall w u v, dot w (add u v) == dot w u + dot w v.
Proof.
  induction w as [| c w IH]; intros [| a u] [| b v]; cbn [dot add]; try ring. rewrite IH. ring.
Qed.

Lemma dot_scale : forall c w v, dot w (scale c v) == c * dot w v.
Proof.
  induction w as [| a w IH]; intros [| b v]; cbn [dot scale map]; try ring.
  fold (scale c v). rewrite IH. ring.
Qed.

Lemma norm2_add : forall u v, norm2 (add u v) == norm2 u + 2 * dot u v + norm2 v.
Proof.
  intros u v. unfold norm2. rewrite dot_add, (dot_comm _ u), (dot_comm _ v), !dot_add.
  rewrite (dot_comm v u). ring.
Qed.

Lemma norm2_nonnegative : forall v, 0 <= norm2 v.
Proof.
  unfold norm2. induction v as [| a v IH]; cbn [dot]; [lra |]. assert (0 <= a * a) by nra. lra.
Qed.

Lemma sign_square : forall A (e : example A), sign e * sign e == 1.
Proof. intros A e. unfold sign. destruct (is_positive e); ring. Qed.

Lemma count_S : forall n, count (S n) == count n + 1.
Proof. intros n. unfold count. rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. reflexivity. Qed.

Lemma count_nonnegative : forall n, 0 <= count n.
Proof. intros n. unfold count. change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia. Qed.

(** * Cauchy-Schwarz, without division or roots *)

Lemma square_nonnegative : forall x, 0 <= x * x.
Proof. intros x. nra. Qed.

Lemma square_monotone : forall x y, 0 <= y -> x * x <= y * y -> x <= y.
Proof. intros x y Hy H. apply Qnot_lt_le. intros N. nra. Qed.

Lemma cauchy_schwarz_step : forall s a b A B P, 0 <= s -> 0 <= A -> 0 <= B -> P * P <= A * B ->
  (s * (a * b) + P) * (s * (a * b) + P) <= (s * (a * a) + A) * (s * (b * b) + B).
Proof.
  intros s a b A B P Hs HA HB H.
  assert (HaB : 0 <= a * a * B) by (apply Qmult_le_0_compat; [apply square_nonnegative | exact HB]).
  assert (HbA : 0 <= b * b * A)
    by (apply Qmult_le_0_compat; [apply square_nonnegative | exact HA]).
  assert (C : 2 * (a * b * P) <= a * a * B + b * b * A).
  { apply square_monotone; [lra |].
    assert (S := square_nonnegative (a * a * B - b * b * A)).
    assert (0 <= (a * b) * (a * b) * (A * B - P * P))
      by (apply Qmult_le_0_compat; [apply square_nonnegative | lra]).
    setoid_replace (2 * (a * b * P) * (2 * (a * b * P)))
      with ((a * a * B + b * b * A) * (a * a * B + b * b * A)
        - (a * a * B - b * b * A) * (a * a * B - b * b * A)
        - 4 * ((a * b) * (a * b) * (A * B - P * P))) by ring.
    lra. }
  assert (D : 0 <= s * (a * a * B + b * b * A - 2 * (a * b * P))) by (apply Qmult_le_0_compat; lra).
  setoid_replace ((s * (a * b) + P) * (s * (a * b) + P))
    with (s * (a * b) * (s * (a * b)) + 2 * s * (a * b * P) + P * P) by ring.
  setoid_replace ((s * (a * a) + A) * (s * (b * b) + B))
    with (s * (a * b) * (s * (a * b)) + s * (a * a * B + b * b * A) + A * B) by ring.
  lra.
Qed.

Theorem cauchy_schwarz : forall u v, dot u v * dot u v <= norm2 u * norm2 v.
Proof.
  unfold norm2. induction u as [| a u IH]; intros [| b v]; cbn [dot].
  - lra.
  - rewrite Qmult_0_l. lra.
  - rewrite Qmult_0_r. lra.
  - assert (H := cauchy_schwarz_step 1 a b (dot u u) (dot v v) (dot u v)).
    rewrite !Qmult_1_l in H.
    apply H; [lra | apply norm2_nonnegative | apply norm2_nonnegative | apply IH].
Qed.

(* The bias is one more coordinate, whose square counts step times. *)
Lemma cauchy_schwarz_bias : forall s u c v n, 0 <= s ->
  (dot u v + s * c * n) * (dot u v + s * c * n)
  <= (norm2 u + s * (c * c)) * (norm2 v + s * (n * n)).
Proof.
  intros s u c v n Hs.
  assert (H := cauchy_schwarz_step s c n _ _ _ Hs (norm2_nonnegative u) (norm2_nonnegative v)
    (cauchy_schwarz u v)).
  setoid_replace (dot u v + s * c * n) with (s * (c * n) + dot u v) by ring.
  setoid_replace (norm2 u + s * (c * c)) with (s * (c * c) + norm2 u) by ring.
  setoid_replace (norm2 v + s * (n * n)) with (s * (n * n) + norm2 v) by ring. exact H.
Qed.

(** * The convergence theorem (Novikoff 1962) *)

Section Bounds.
Variables (step demand : Q) (data : list (example Q)).
Hypothesis step_nonnegative : 0 <= step.
Hypothesis demand_nonnegative : 0 <= demand.
Variable R2 : Q. (* the square of the radius *)
Hypothesis R2_nonnegative : 0 <= R2.
Hypothesis radius : forall e, In e data -> norm2 (features e) <= R2.

(* w grows slowly: n is the bias in steps. *)
Lemma run_length : forall w b m, run step demand data w b m ->
  exists n, b == step * n /\ norm2 w + step * (n * n) <= count m * (R2 + step + 2 * demand).
Proof.
  intros w b m H. induction H as [| w b m e H [n [Hb IH]] He Hm].
  - exists 0. split; [ring |]. change (norm2 []) with 0. change (count 0) with 0. lra.
  - exists (n + sign e). split; [rewrite Hb; ring |].
    specialize (radius e He). unfold moved. rewrite norm2_add, dot_scale.
    assert (N : norm2 (scale (sign e) (features e)) == norm2 (features e)).
    { unfold norm2. rewrite dot_scale, dot_comm, dot_scale, Qmult_assoc, sign_square. ring. }
    rewrite N, count_S. unfold margin in Hm. rewrite Hb in Hm.
    setoid_replace (norm2 w + 2 * (sign e * dot w (features e)) + norm2 (features e)
        + step * ((n + sign e) * (n + sign e)))
      with (norm2 w + step * (n * n) + 2 * (sign e * (dot w (features e) + step * n))
        + norm2 (features e) + step * (sign e * sign e)) by ring.
    rewrite sign_square. lra.
Qed.

Lemma averaged_is_run : forall w b m sum_w sum_b t k,
  averaged_run step demand data w b m sum_w sum_b t k -> run step demand data w b m.
Proof. intros. induction H; [apply start | assumption | apply mistake; assumption]. Qed.

(* Averages grow slowly, too. *)
Theorem averaged_length : forall w b m sum_w sum_b t k,
  averaged_run step demand data w b m sum_w sum_b t k ->
  exists n, sum_b == step * n
    /\ norm2 sum_w + step * (n * n) <= count t * count t * (count m * (R2 + step + 2 * demand)).
Proof.
  set (C := R2 + step + 2 * demand). assert (HC : 0 <= C) by (unfold C; lra).
  assert (grow : forall v n s c X t, 0 <= t -> 0 <= X ->
    norm2 s + step * (c * c) <= t * t * X -> norm2 v + step * (n * n) <= X ->
    norm2 (add s v) + step * ((c + n) * (c + n)) <= (t + 1) * (t + 1) * X).
  { intros v n s c X t Ht HX Hs Hv. rewrite norm2_add.
    assert (CS := cauchy_schwarz_bias step s c v n step_nonnegative).
    assert (P : dot s v + step * c * n <= t * X).
    { apply square_monotone; [apply Qmult_le_0_compat; assumption |].
      eapply Qle_trans; [exact CS |].
      assert (0 <= norm2 s + step * (c * c))
        by (assert (N := norm2_nonnegative s); assert (0 <= c * c) by nra; nra).
      assert (0 <= norm2 v + step * (n * n))
        by (assert (N := norm2_nonnegative v); assert (0 <= n * n) by nra; nra).
      assert (0 <= t * t * X) by (apply Qmult_le_0_compat; nra).
      setoid_replace (t * X * (t * X)) with (t * t * X * X) by ring.
      apply Qle_trans with (t * t * X * (norm2 v + step * (n * n))).
      - apply Qmult_le_compat_r; assumption.
      - rewrite (Qmult_comm (t * t * X)), (Qmult_comm (t * t * X)).
        apply Qmult_le_compat_r; assumption. }
    setoid_replace (norm2 s + 2 * dot s v + norm2 v + step * ((c + n) * (c + n)))
      with (norm2 s + step * (c * c) + 2 * (dot s v + step * c * n) + (norm2 v + step * (n * n)))
      by ring.
    setoid_replace ((t + 1) * (t + 1) * X) with (t * t * X + 2 * (t * X) + X) by ring. lra. }
  intros w b m sum_w sum_b t k H.
  induction H as [| w b m s sb t k e H [c [Hc IH]] He Hm | w b m s sb t k e H [c [Hc IH]] He Hm].
  - exists 0. split; [ring |]. change (norm2 []) with 0. change (count 0) with 0. lra.
  - destruct (run_length _ _ _ (averaged_is_run _ _ _ _ _ _ _ H)) as [n [Hn L]]. fold C in L.
    exists (c + n). split; [rewrite Hc, Hn; ring |]. rewrite count_S.
    assert (Hm0 := count_nonnegative m). apply grow; auto using count_nonnegative.
    apply Qmult_le_0_compat; assumption.
  - assert (R : run step demand data (moved w e) (b + sign e * step) (S m))
      by (apply mistake; [apply (averaged_is_run _ _ _ _ _ _ _ H) | |]; assumption).
    destruct (run_length _ _ _ R) as [n [Hn L]]. fold C in L.
    exists (c + n). split; [rewrite Hc, Hn; ring |]. rewrite (count_S t).
    assert (0 <= count (S m) * C) by (apply Qmult_le_0_compat; [apply count_nonnegative | exact HC]).
    apply grow; auto using count_nonnegative.
    eapply Qle_trans; [exact IH |].
    assert (0 <= count t) by apply count_nonnegative.
    assert (E : count (S m) * C == count m * C + C) by (rewrite count_S; ring).
    rewrite E, Qmult_plus_distr_r.
    assert (0 <= count t * count t * C) by (apply Qmult_le_0_compat; nra). lra.
Qed.

(* Let every row have at least the margin g from a hyperplane with weights u and bias step c. *)
Variables (u : vector) (c g : Q).
Hypothesis g_nonnegative : 0 <= g.
Hypothesis all_margins : forall e, In e data -> g <= margin u (step * c) e.

(* w moves towards u. *)
Lemma run_progress : forall w b m, run step demand data w b m -> count m * g <= dot u w + c * b.
Proof.
  intros w b m H. induction H as [| w b m e H IH He Hm].
  - rewrite dot_nil. change (count 0) with 0. lra.
  - specialize (all_margins e He). unfold margin in all_margins.
    unfold moved. rewrite dot_add, dot_scale, count_S. lra.
Qed.

Theorem averaged_progress : forall w b m sum_w sum_b t k,
  averaged_run step demand data w b m sum_w sum_b t k -> count k * g <= dot u sum_w + c * sum_b.
Proof.
  intros w b m sum_w sum_b t k H.
  induction H as [| w b m s sb t k e H IH He Hm | w b m s sb t k e H IH He Hm].
  - rewrite dot_nil. change (count 0) with 0. lra.
  - assert (P := run_progress _ _ _ (averaged_is_run _ _ _ _ _ _ _ H)).
    unfold count in *. rewrite Nat2Z.inj_add, inject_Z_plus, dot_add. lra.
  - assert (R : run step demand data (moved w e) (b + sign e * step) (S m))
      by (apply mistake; [apply (averaged_is_run _ _ _ _ _ _ _ H) | |]; assumption).
    assert (P := run_progress _ _ _ R).
    unfold count in *. rewrite Nat2Z.inj_add, inject_Z_plus, dot_add. lra.
Qed.

(* M g^2 <= (R^2 + step + 2 demand) (|u|^2 + step c^2) *)
Theorem novikoff : forall w b m, run step demand data w b m ->
  count m * (g * g) <= (R2 + step + 2 * demand) * (norm2 u + step * (c * c)).
Proof.
  intros w b m H. assert (P := run_progress w b m H).
  destruct (run_length w b m H) as [n [Hb L]]. rewrite Hb in P.
  assert (CS := cauchy_schwarz_bias step u c w n step_nonnegative).
  set (C := R2 + step + 2 * demand) in *. set (A := norm2 u + step * (c * c)) in *.
  assert (HA : 0 <= A)
    by (unfold A; assert (N := norm2_nonnegative u); assert (0 <= c * c) by nra; nra).
  assert (HC : 0 <= C) by (unfold C; lra).
  destruct m as [| m]; [change (count 0) with 0; rewrite Qmult_0_l; apply Qmult_le_0_compat; assumption |].
  assert (Hm : 0 < count (S m)) by (rewrite count_S; assert (N := count_nonnegative m); lra).
  set (M := count (S m)) in *.
  assert (HMg : 0 <= M * g) by (apply Qmult_le_0_compat; lra).
  assert (S1 : M * g * (M * g) <= A * (M * C)).
  { eapply Qle_trans with (A * (norm2 w + step * (n * n))).
    - eapply Qle_trans; [| exact CS]. nra.
    - rewrite !(Qmult_comm A). apply Qmult_le_compat_r; assumption. }
  apply (Qmult_le_l _ _ M Hm).
  setoid_replace (M * (M * (g * g))) with (M * g * (M * g)) by ring.
  setoid_replace (M * (C * A)) with (A * (M * C)) by ring. exact S1.
Qed.
End Bounds.

Lemma margin_bias : forall w b b' e, b == b' -> margin w b e == margin w b' e.
Proof. intros w b b' e H. unfold margin. rewrite H. reflexivity. Qed.

(* Through the origin: M g^2 <= R^2 |u|^2. *)
Corollary novikoff_through_origin : forall data R2 u g w b m, 0 <= R2 -> 0 <= g ->
  (forall e, In e data -> norm2 (features e) <= R2) ->
  (forall e, In e data -> g <= margin u 0 e) ->
  run 0 0 data w b m -> count m * (g * g) <= R2 * norm2 u.
Proof.
  intros data R2 u g w b m HR Hg R A H.
  assert (N := novikoff 0 0 data ltac:(lra) ltac:(lra) R2 HR R u 0 g Hg).
  setoid_replace (R2 * norm2 u) with ((R2 + 0 + 2 * 0) * (norm2 u + 0 * (0 * 0))) by ring.
  apply N with (w := w) (b := b); [| exact H].
  intros e He. rewrite (margin_bias u _ 0) by ring. apply A, He.
Qed.

(* The bias moves by 1: M g^2 <= (R^2 + 1) (|u|^2 + c^2). *)
Corollary novikoff_unit_step : forall data R2 u c g w b m, 0 <= R2 -> 0 <= g ->
  (forall e, In e data -> norm2 (features e) <= R2) ->
  (forall e, In e data -> g <= margin u c e) ->
  run 1 0 data w b m -> count m * (g * g) <= (R2 + 1) * (norm2 u + c * c).
Proof.
  intros data R2 u c g w b m HR Hg R A H.
  assert (N := novikoff 1 0 data ltac:(lra) ltac:(lra) R2 HR R u c g Hg).
  setoid_replace ((R2 + 1) * (norm2 u + c * c))
    with ((R2 + 1 + 2 * 0) * (norm2 u + 1 * (c * c))) by ring.
  apply N with (w := w) (b := b); [| exact H].
  intros e He. rewrite (margin_bias u _ c) by ring. apply A, He.
Qed.

(* A demand on margins, through the origin: M g^2 <= (R^2 + 2 demand) |u|^2. *)
Corollary novikoff_demand : forall demand data R2 u g w b m, 0 <= demand -> 0 <= R2 -> 0 <= g ->
  (forall e, In e data -> norm2 (features e) <= R2) ->
  (forall e, In e data -> g <= margin u 0 e) ->
  run 0 demand data w b m -> count m * (g * g) <= (R2 + 2 * demand) * norm2 u.
Proof.
  intros demand data R2 u g w b m Hd HR Hg R A H.
  assert (N := novikoff 0 demand data ltac:(lra) Hd R2 HR R u 0 g Hg).
  setoid_replace ((R2 + 2 * demand) * norm2 u)
    with ((R2 + 0 + 2 * demand) * (norm2 u + 0 * (0 * 0))) by ring.
  apply N with (w := w) (b := b); [| exact H].
  intros e He. rewrite (margin_bias u _ 0) by ring. apply A, He.
Qed.

(* When both classes occur, the plane meets the ball of the rows: c^2 <= R^2 |u|^2. *)
Lemma bias_within_radius : forall data R2 u c g, 0 <= g ->
  (forall e, In e data -> norm2 (features e) <= R2) ->
  (forall e, In e data -> g <= margin u c e) ->
  (exists p, In p data /\ is_positive p = true) -> (exists n, In n data /\ is_positive n = false) ->
  c * c <= R2 * norm2 u.
Proof.
  intros data R2 u c g Hg R A [p [Hp Sp]] [n [Hn Sn]].
  assert (far : forall e, In e data -> dot u (features e) * dot u (features e) <= R2 * norm2 u).
  { intros e He. eapply Qle_trans; [apply cauchy_schwarz |]. rewrite Qmult_comm.
    apply Qmult_le_compat_r; [apply R, He | apply norm2_nonnegative]. }
  assert (Ap := A p Hp). assert (An := A n Hn). unfold margin, sign in Ap, An.
  rewrite Sp in Ap. rewrite Sn in An.
  assert (Fp := far p Hp). assert (Fn := far n Hn).
  destruct (Qlt_le_dec c 0); nra.
Qed.

(* The bias moves by R^2 and both classes occur: M g^2 <= 4 R^2 |u|^2. *)
Corollary novikoff_radius_step : forall data R2 u c g w b m, 0 < R2 -> 0 <= g ->
  (forall e, In e data -> norm2 (features e) <= R2) ->
  (forall e, In e data -> g <= margin u c e) ->
  (exists p, In p data /\ is_positive p = true) -> (exists n, In n data /\ is_positive n = false) ->
  run R2 0 data w b m -> count m * (g * g) <= 4 * R2 * norm2 u.
Proof.
  intros data R2 u c g w b m HR Hg R A P N H.
  assert (B := bias_within_radius data R2 u c g Hg R A P N).
  assert (E : R2 * (c / R2) == c) by (field; lra).
  assert (V := novikoff R2 0 data ltac:(lra) ltac:(lra) R2 ltac:(lra) R u (c / R2) g Hg).
  eapply Qle_trans.
  - apply V with (w := w) (b := b); [| exact H].
    intros e He. rewrite (margin_bias u _ c) by exact E. apply A, He.
  - assert (F : R2 * (R2 * ((c / R2) * (c / R2))) == c * c) by (field; lra).
    assert (G : R2 * ((c / R2) * (c / R2)) <= norm2 u) by (apply (Qmult_le_l _ _ R2 HR); lra).
    nra.
Qed.

(** * A pass without a mistake *)

Lemma pass_counts : forall step demand order w b m w' b' m',
  pass step demand order w b m w' b' m' -> (m <= m')%nat.
Proof. intros. induction H; lia. Qed.

Theorem pass_extends_run : forall step demand data order w b m w' b' m', incl order data ->
  run step demand data w b m -> pass step demand order w b m w' b' m' ->
  run step demand data w' b' m'.
Proof.
  intros step demand data order w b m w' b' m' I R P.
  induction P as [w b m | e order w b m w' b' m' Hm P IH | e order w b m w' b' m' Hm P IH].
  - exact R.
  - apply IH; [| exact R]. intros x Hx. apply I. right. exact Hx.
  - apply IH; [intros x Hx; apply I; right; exact Hx |].
    apply mistake; [exact R | apply I; left; reflexivity | exact Hm].
Qed.

Theorem clean_pass_separates : forall step demand data order w b m w' b', 0 <= demand ->
  incl data order -> pass step demand order w b m w' b' m -> separates w b data.
Proof.
  intros step demand data order w b m w' b' Hd I P.
  assert (all : forall e, In e order -> demand < margin w b e).
  { clear I. remember m as m' in P at 2.
    induction P as [w b m | e order w b m w' b' m' Hm P IH | e order w b m w' b' m' Hm P IH];
      intros x Hx.
    - contradiction.
    - destruct Hx as [<- | Hx]; [exact Hm | apply IH; assumption].
    - apply pass_counts in P. lia. }
  intros e He. specialize (all e (I e He)). lra.
Qed.

Corollary clean_pass_separable : forall step demand data order w b m w' b', 0 <= demand ->
  incl data order -> pass step demand order w b m w' b' m -> separable data.
Proof. intros. exists w, b. eapply clean_pass_separates; eassumption. Qed.
