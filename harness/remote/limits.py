"""What a server allows, so that no client can use it up."""

from pydantic import Field

from reports.records.record import Record


class Limits(Record):
    """Bounds of a server; what would pass one is refused with RESOURCE_EXHAUSTED and changes nothing.

    A history that grows to its bound while it is generated, or for whose K/V there is no room, ends with TRUNCATED
    instead. An append that another session leaves no room for is read when there is some.
    """

    sessions: int = Field(64, ge=1, le=4096, description="Open at once")
    history_tokens: int = Field(131_072, ge=1, le=4_194_304, description="Of one session")
    kv_bytes: int = Field(
        8 * 2**30, ge=1, description="Held by all sessions together, checked before each chunk that is read"
    )
    waiting: int = Field(8, ge=1, le=256, description="Calls of one session that wait for their turn")
    message_bytes: int = Field(2**20, ge=1024, le=64 * 2**20, description="Of one message")
    stop_tokens: int = Field(1024, ge=0, description="Ids that end a generation")
    label_length: int = Field(200, ge=0)
    idle_seconds: int = Field(900, ge=1, description="After which a session that nobody calls is closed")
    unread_seconds: int = Field(30, ge=1, description="After which a generation whose frames nobody reads is cancelled")
