from rosenblatt import SequencePerceptron

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "sleep"]]
Y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]


def test_explanations_add_up():
    """All features and the transition together are the lead, where the other tags stay."""
    model = SequencePerceptron(random_state=0).fit(X, Y)
    told = model.explain(["the", "cat", "barks"], top=1000)
    assert [one.tag for one in told] == model.predict([["the", "cat", "barks"]])[0]
    assert all(one.runner_up != one.tag and one.lead >= 0 for one in told)
    last = told[-1]
    whole = sum(weight for _, weight in last.features) + last.transition
    assert last.lead <= whole + 1e-3
    assert model.explain([]) == []


def test_top_features_come_first():
    model = SequencePerceptron(random_state=0).fit(X, Y)
    (told,) = model.explain(["dog"], top=3)
    sizes = [abs(weight) for _, weight in told.features]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
