"""The states that the register keeps: of persons, of rooms, of seats, and the roles of persons."""


class Role:
    """What somebody comes for."""

    PARTICIPANT = "participant"
    RATER = "rater"
    RESEARCHER = "researcher"


class Stage:
    """How far a person has come; she is seated, or waits for a seat, while she is READY."""

    INVITED = "invited"
    CONSENTED = "consented"
    READY = "ready"
    DONE = "done"
    DECLINED = "declined"
    FAILED = "failed_checks"
    OVER_QUOTA = "over_quota"
    WITHDRAWN = "withdrawn"


class RoomState:
    """How a room stands. One that is STOPPED is tried again; OVER and CANCELLED are its end."""

    LOBBY = "lobby"
    HELD = "held"
    OVER = "over"
    STOPPED = "stopped"
    CANCELLED = "cancelled"

    GOING = (LOBBY, HELD, STOPPED)


class SeatState:
    """How a seat stands: SILENT, left and nobody follows; STOOD_IN, left and a model follows."""

    FREE = "free"
    TAKEN = "taken"
    SILENT = "silent"
    STOOD_IN = "stood_in"

    LEFT = (SILENT, STOOD_IN)
