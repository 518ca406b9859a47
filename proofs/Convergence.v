(* The perceptron convergence theorem for every run, and a checker of the log of one run.
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
