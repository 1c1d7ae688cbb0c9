from chains.naming import cited_by_number, place_name


def cited(number, title, *, matched=True):
    return {"number": number, "title": title, "matched": matched}


def test_a_place_is_named_as_far_as_it_is_known():
    assert place_name("GST Guide", "Rates", 3) == "GST Guide > Rates, page 3"
    assert place_name("GST Guide", None, 3) == "GST Guide, page 3"
    assert place_name("GST Guide") == "GST Guide"


def test_each_number_is_listed_once_in_order_by_its_first_citation():
    citations = [cited(2, "Second"), cited(1, "First"), cited(2, "Again"), cited(None, "Attributed")]
    assert cited_by_number(citations) == {1: cited(1, "First"), 2: cited(2, "Second")}


def test_a_citation_that_matches_nothing_is_not_listed():
    assert cited_by_number([cited(1, "Nowhere", matched=False)]) == {}
