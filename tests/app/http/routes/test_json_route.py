from app.http.questions import ParsedRequest


async def test_a_body_that_was_parsed_is_not_parsed_again():
    value = {"query": "What is the rate?"}
    request = ParsedRequest({"type": "http", "headers": [], "state": {"json": value}})
    assert await request.json() is value
