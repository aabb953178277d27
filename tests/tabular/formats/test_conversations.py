import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.tabular.formats.conversations import ASSISTANT, USER, as_messages, as_text, split_conversations

CONTENTS = st.text(st.sampled_from("a\n\\<|>user "), max_size=20)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": CONTENTS}),
    min_size=1,
    max_size=4,
)


@given(MESSAGES, st.sampled_from([USER, ASSISTANT]))
def test_messages_survive_as_text(messages, speaker):
    assert as_messages(as_text(messages, speaker), speaker) == messages


@pytest.mark.parametrize("speaker", [USER, ASSISTANT])
def test_a_single_message_of_the_speaker_is_its_content(speaker):
    assert as_text([{"role": speaker, "content": "plain"}], speaker) == "plain"


def test_shared_messages_are_the_prompt():
    user = {"role": "user", "content": "Why?"}
    one = {"role": "assistant", "content": "So."}
    other = {"role": "assistant", "content": "Because."}
    assert split_conversations([user, one], [user, other]) == ([user], [one], [other])
    assert split_conversations([user, one], [user, one]) == ([user], [one], [one])
    assert split_conversations([one], [user, one]) == ([], [one], [user, one])
