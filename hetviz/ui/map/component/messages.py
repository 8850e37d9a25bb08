"""Messages between Python and the browser.

``assets/messages.js`` declares the same fields for the browser, and a test compares both files.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from hetviz.plots.palette import Theme


class LayoutSpec(TypedDict):
    """Positions of a map: keys of arrays in pieces, and their extent."""

    id: str
    pieces: list[str]
    extent: list[float]
    reach: NotRequired[list[list[float | None]] | None]
    enlarged: NotRequired[list[list[float]]]


class FrameSpec(TypedDict):
    """Range of both axes that shows the whole map."""

    x: list[float]
    y: list[float]
    stretch: float


class DatasetSpec(TypedDict):
    """Dataset with its rows, `start` to `stop`, and its mark."""

    name: str
    start: int
    stop: int
    symbol: str
    glyph: str
    factor: float
    count: int
    counted: str
    media: bool
    words: bool
    people: bool


class ColourSpec(TypedDict):
    """Colour of the items: categories or numbers, by theme."""

    key: str
    kind: Literal["numbers", "categories"]
    option: str
    title: str
    categories: list[str]
    borrowed: list[str]
    pale: str | None
    counts: dict[str, Any]
    palette: dict[Theme, list[str]]
    swatches: list[int]  # Categories whose colour the user chose.
    choices: dict[Theme, list[str]]  # Colours that the legend offers.
    ghost: dict[Theme, str]
    low: float | None
    high: float | None
    endSigns: list[str]
    log: bool  # Whether the numbers and both ends are decimal logarithms.
    scale: dict[Theme, list[str]]


class ColourOptionSpec(TypedDict):
    """A column or result that can colour the map."""

    group: str
    key: str
    title: str


class NameSpec(TypedDict):
    """Name of a category with possible positions, the best first."""

    text: str
    code: int
    at: list[list[float]]
    within: NotRequired[bool]


class SelectionSpec(TypedDict):
    """Selection of Python."""

    key: str | None
    count: int
    version: int


class CameraSpec(TypedDict):
    """Visible range of both axes."""

    x: list[float]
    y: list[float]


class LiveSpec(TypedDict):
    """Running job whose layouts are shown."""

    job: str
    title: str


class DraftSpec(TypedDict):
    """Draft of a statement: keys of the rows of its groups, pairs, expected moves, dropped item.

    `count`: number of pairs as text.
    """

    groups: dict[str, str]
    pairs: list[list[float]]
    count: str
    moves: list[list[float]]
    dropped: list[float] | None
    fingerprint: str
    acknowledged: int


class SpreadSpec(TypedDict):
    """Key of the flags of unstable positions, None until they are measured, and a sentence."""

    key: str | None
    text: str


class FilmStripSpec(TypedDict):
    """A map of the film strip, with its share of close links in words."""

    id: str
    title: str
    geometry: LayoutSpec
    close: str | None
    comparisons_met: float | None
    is_open: bool


class DemoSpec(TypedDict):
    """Example statement that an item belongs with another, and the positions after it."""

    key: str
    item: int
    other: int
    text: str


class ChartFilterSpec(TypedDict):
    """A filter that a chart draws: values, or a range of numbers or days."""

    dataset: str
    column: str
    kind: Literal["values", "range", "text", "rows"]
    values: list[str]
    low: float | None
    high: float | None
    missing: bool


class ChartsSpec(TypedDict):
    """Charts below the map: dataset, column, and the dataset whose links a chart follows or "".

    A scatter also has the column of its y axis.

    `failed`: key of the filters that each row fails, one bit each. `acknowledged`: number of the
    last filter of a chart that Python applied. `table`: whether the table is in their place.
    `loading`: whether the first charts are chosen later, when the columns are read. `time`: the
    chart of dates that is shown while the charts are closed.
    """

    open: bool
    table: bool
    time: list[str] | None
    loading: bool
    charts: list[list[str]]
    filters: list[ChartFilterSpec]
    failed: str | None
    acknowledged: int


class StoryLegend(TypedDict):
    """State of the legend: codes of hidden categories, and what alone stays in colour."""

    hidden: list[int]
    only: list[int]
    datasets: list[str]
    range: list[float] | None


class StorySpec(TypedDict):
    """Saved view: number of views shown so far, position while it is presented, and of how many."""

    number: int
    at: int | None
    n: int
    text: str
    facts: str  # Which items the filters leave.
    notes: list[str]
    camera: CameraSpec | None
    legend: StoryLegend


class GeographySpec(TypedDict):
    """Items at their places on the earth, in the frame of the map."""

    geometry: LayoutSpec
    frame: FrameSpec
    outside: int
    outlines: str  # Key of rings, the edge of the projection first, each with NaN at its end
    per_km: float  # Units of the map per kilometre
    note: str


class PeriodSpec(TypedDict):
    """Map of a period: its positions and number of items."""

    id: str
    name: str
    geometry: LayoutSpec
    count: int


class PeriodsSpec(TypedDict):
    """Maps of periods in order, which of them is shown, and whether the data have dates."""

    offered: bool
    shown: int | None
    maps: list[PeriodSpec]


class MapSpec(TypedDict):
    """Description of a map. Fields that are not required are set by the page."""

    session: str
    n: int
    fingerprint: str
    mode: Literal["work", "look"]
    geometry: LayoutSpec
    title: str
    proposed: list[str]  # What the title says of proposed links, long and short
    alt: str
    frame: FrameSpec
    outside: int
    unplaced: int
    notes: list[str]
    datasets: list[DatasetSpec]
    colour: ColourSpec
    colours: list[ColourOptionSpec]
    mask: str | None
    hidden: list[str]
    terrain: bool
    names: list[NameSpec]
    order: str
    selection: SelectionSpec
    camera: CameraSpec | None
    refitted: bool
    pins: list[int]  # Pinned rows
    live: LiveSpec | None
    tokens: dict[Theme, dict[str, Any]]
    name: NotRequired[str]
    height: NotRequired[str]
    assets: NotRequired[str]
    stage: NotRequired[bool]
    place: NotRequired[str]
    opens_panel: NotRequired[int]  # Version of the panel that opens it, 0 if it does not open
    version: NotRequired[int]
    n_failures: NotRequired[int]
    draft: NotRequired[DraftSpec | None]
    story: NotRequired[StorySpec | None]
    film_strip: NotRequired[list[FilmStripSpec]]
    periods: NotRequired[PeriodsSpec | None]
    spread: NotRequired[SpreadSpec | None]
    demo: NotRequired[DemoSpec | None]
    charts: NotRequired[ChartsSpec | None]
    me: NotRequired[str]  # Name of the visitor, if selections are exchanged with others
    linked_group: NotRequired[str]
    regions: NotRequired[bool]


class PanelSpec(TypedDict):
    """State of the panel: its tab, the tabs on the page, and the shares of close links."""

    tab: str
    loaded: list[str]
    view: str
    wide: bool
    version: int
    open: bool
    has_selection: bool
    close_texts: dict[str, str]
    best_close: str
    assets: NotRequired[str]


class ProposalSpec(TypedDict):
    """Pairs of a tab that are drawn dashed, and candidates with their certainty."""

    pairs: list[list[Any]]
    n_asked: int
    candidates: list[list[float]]
    tab: str
    assets: str


class SelectionState(TypedDict):
    """Selection of the browser: packed flags of the rows of the data with this fingerprint."""

    packed: str
    count: int
    version: int
    fingerprint: str


class StatementRequest(TypedDict):
    """Request: set a group, choose the kind, drop an item or cancel that, or measure the spread."""

    number: int
    kind: Literal["group", "statement", "drop", "cancel", "spread"]
    group: NotRequired[str]
    packed: NotRequired[str]
    statement: NotRequired[str]
    row: NotRequired[int]
    x: NotRequired[float]
    y: NotRequired[float]
    onto: NotRequired[int]  # row that an item was dropped onto


class StatementRequests(TypedDict):
    """All requests that Python has not acknowledged."""

    requests: list[StatementRequest]
    fingerprint: str


class ChartFilterRequest(TypedDict):
    """Filters of a chart."""

    number: int
    filters: list[ChartFilterPart]


class ChartFilterPart(TypedDict):
    """Filter that replaces those of its column; without values or range they only end.

    `low`, `high`: ends of a range. `missing`: whether rows without a value pass.
    """

    dataset: str
    column: str
    values: list[str]
    low: float | None
    high: float | None
    missing: bool


class ChartChoice(TypedDict):
    """Column that a chart can show. `axis`: whether it can be an axis of a scatter."""

    group: str
    dataset: str
    column: str
    of: str
    title: str
    axis: bool


class ChartSpec(TypedDict):
    """Chart of a column: the code of each row, 255 for none, and texts and values of the codes.

    `links`: keys of the rows and targets of the links that it counts, None if it counts rows.
    `places`: key of the place of each row along an axis, None for other charts.
    `time`: whether the column has dates.
    `lows`, `highs`, `starts`, `ends`: smallest and largest value of each bin, and both as text.
    """

    kind: Literal["bins", "values"]
    title: str
    time: bool
    key: str
    links: list[str] | None
    places: str | None
    texts: list[str]
    values: list[str]
    lows: list[float | None]
    highs: list[float | None]
    starts: list[str]
    ends: list[str]
