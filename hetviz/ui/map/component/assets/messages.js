// Messages between Python and the browser. hetviz/ui/map/component/messages.py declares the same fields, and
// a test compares both files.

/**
 * @typedef {"light" | "dark"} Theme
 */

/**
 * @typedef {object} LayoutSpec
 * @property {string} id
 * @property {string[]} pieces keys of arrays
 * @property {[number, number, number, number]} extent
 * @property {(number | null)[][] | null} [reach] largest distance of close links, by pair of datasets
 * @property {[number, number, number][]} [enlarged] centre and factor of each dataset, empty if all are to scale
 */

/**
 * @typedef {object} FrameSpec
 * @property {[number, number]} x
 * @property {[number, number]} y
 * @property {number} stretch
 */

/**
 * @typedef {object} DatasetSpec
 * @property {string} name
 * @property {number} start first row
 * @property {number} stop
 * @property {string} symbol
 * @property {string} glyph
 * @property {number} factor size of the symbol
 * @property {number} count
 * @property {string} counted number of items in words
 * @property {boolean} media whether items have pictures
 * @property {boolean} words whether most titles are words
 * @property {boolean} people whether titles are names of people
 */

/**
 * @typedef {object} ColourSpec
 * @property {string} key
 * @property {"numbers" | "categories"} kind
 * @property {string} option
 * @property {string} title
 * @property {string[]} categories
 * @property {string[]} borrowed datasets with the colour of what they link to
 * @property {string | null} pale key of the flags of items that take the colour of what they link to
 * @property {{ categories: number[], borrowed: number[], other: number, none: number }} counts
 * @property {Record<Theme, string[]>} palette
 * @property {number[]} swatches categories whose colour the user chose
 * @property {Record<Theme, string[]>} choices colours that the legend offers
 * @property {Record<Theme, string>} ghost colour of items without a value
 * @property {number | null} low
 * @property {number | null} high
 * @property {string[]} endSigns "≤ " and "≥ " where numbers lie beyond the ends, else ""
 * @property {boolean} log whether the numbers and both ends are decimal logarithms
 * @property {Record<Theme, string[]>} scale
 */

/**
 * @typedef {object} ColourOptionSpec
 * @property {string} group
 * @property {string} key
 * @property {string} title
 */

/**
 * @typedef {object} NameSpec
 * @property {string} text
 * @property {number} code
 * @property {[number, number][]} at
 * @property {boolean} [within] whether it names a part of a group
 */

/**
 * @typedef {object} SelectionSpec
 * @property {string | null} key
 * @property {number} count
 * @property {number} version
 */

/**
 * @typedef {object} CameraSpec
 * @property {[number, number]} x
 * @property {[number, number]} y
 */

/**
 * @typedef {object} LiveSpec
 * @property {string} job
 * @property {string} title
 */

/**
 * @typedef {object} DraftSpec
 * @property {Record<string, string>} groups keys of arrays of rows
 * @property {[number, number, number][]} pairs rows and weight
 * @property {[number, number, number][]} moves row and expected position
 * @property {[number, number, number] | null} dropped row and position
 * @property {string} fingerprint
 * @property {string} count number of pairs as text
 * @property {number} acknowledged number of the last request that Python has handled
 */

/**
 * @typedef {object} FilmStripSpec
 * @property {string} id
 * @property {string} title
 * @property {LayoutSpec} geometry
 * @property {string | null} close share of close links in words
 * @property {number | null} comparisons_met share from 0 to 1
 * @property {boolean} is_open
 */

/**
 * @typedef {object} PeriodSpec
 * @property {string} id
 * @property {string} name
 * @property {LayoutSpec} geometry
 * @property {number} count items on the map
 */

/**
 * @typedef {object} PeriodsSpec
 * @property {boolean} offered whether the data have dates
 * @property {number | null} shown
 * @property {PeriodSpec[]} maps
 */

/**
 * @typedef {object} SpreadSpec
 * @property {string | null} key flags of unstable positions, null until they are measured
 * @property {string} text
 */

/**
 * @typedef {object} DemoSpec
 * @property {string} key positions of all rows after the statement
 * @property {number} item row
 * @property {number} other row that the item belongs with
 * @property {string} text
 */

/**
 * @typedef {object} ChartFilterSpec
 * @property {string} dataset
 * @property {string} column
 * @property {"values" | "range" | "text" | "rows"} kind
 * @property {string[]} values
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} missing whether rows without a value pass
 */

/**
 * @typedef {object} ChartsSpec
 * @property {boolean} open
 * @property {boolean} table whether the table is in their place
 * @property {string[] | null} time chart of dates while the charts are closed
 * @property {boolean} loading whether the first charts are chosen later, when the columns are read
 * @property {string[][]} charts dataset, column, and the dataset whose links the chart follows or "", of a scatter also the column of its y axis
 * @property {ChartFilterSpec[]} filters
 * @property {string | null} failed key of the filters that each row fails, one bit each
 * @property {number} acknowledged number of the last filter of a chart that Python applied
 */

/**
 * @typedef {object} ChartFilterRequest
 * @property {number} number
 * @property {ChartFilterPart[]} filters
 */

/**
 * @typedef {object} ChartFilterPart
 * @property {string} dataset
 * @property {string} column
 * @property {string[]} values
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} missing
 */

/**
 * @typedef {object} ChartChoice
 * @property {string} group
 * @property {string} dataset
 * @property {string} column
 * @property {string} of
 * @property {string} title
 * @property {boolean} axis whether the column can be an axis of a scatter
 */

/**
 * @typedef {object} ChartSpec
 * @property {"bins" | "values"} kind
 * @property {string} title
 * @property {boolean} time whether the column has dates
 * @property {string} key key of the code of each row, 255 for none
 * @property {[string, string] | null} links keys of the rows and targets of the links that it counts
 * @property {string | null} places key of the place of each row along an axis, 255 for none
 * @property {string[]} texts
 * @property {string[]} values
 * @property {(number | null)[]} lows smallest value of each bin
 * @property {(number | null)[]} highs
 * @property {string[]} starts smallest value of each bin as text
 * @property {string[]} ends
 */

/**
 * @typedef {object} StoryLegend
 * @property {number[]} hidden codes
 * @property {number[]} only codes that alone stay in colour
 * @property {string[]} datasets names of datasets that alone stay in colour
 * @property {[number, number] | null} range numbers that alone stay in colour
 */

/**
 * @typedef {object} StorySpec
 * @property {number} number of views shown so far
 * @property {number | null} at position while it is presented, from 0
 * @property {number} n number of views
 * @property {string} text
 * @property {string} facts which items the filters leave
 * @property {string[]} notes
 * @property {CameraSpec | null} camera null for the whole map
 * @property {StoryLegend} legend
 */

/**
 * @typedef {object} GeographySpec
 * @property {LayoutSpec} geometry
 * @property {FrameSpec} frame
 * @property {number} outside
 * @property {string} outlines key of rings, the edge of the projection first, each with NaN at its end
 * @property {number} per_km units of the map per kilometre
 * @property {string} note how many items have no place
 */

/**
 * @typedef {object} MapSpec
 * @property {string} session
 * @property {number} n number of rows
 * @property {string} fingerprint
 * @property {"work" | "look"} mode
 * @property {LayoutSpec} geometry
 * @property {string} title
 * @property {string[]} proposed what the title says of proposed links, long and short
 * @property {string} alt
 * @property {FrameSpec} frame
 * @property {number} outside number of items out of the frame
 * @property {number} unplaced
 * @property {string[]} notes
 * @property {DatasetSpec[]} datasets
 * @property {ColourSpec} colour
 * @property {ColourOptionSpec[]} colours
 * @property {string | null} mask
 * @property {string[]} hidden names of hidden datasets
 * @property {boolean} terrain whether the terrain is shown
 * @property {NameSpec[]} names
 * @property {string} order
 * @property {SelectionSpec} selection
 * @property {CameraSpec | null} camera
 * @property {boolean} refitted whether the map was refitted for the last statements
 * @property {number[]} pins pinned rows
 * @property {LiveSpec | null} live
 * @property {Record<Theme, Record<string, any>>} tokens
 * @property {string} [name] name of the map on its page
 * @property {string} [height]
 * @property {string} [assets]
 * @property {boolean} [stage] whether it is the map of the app, which fills the window
 * @property {string} [place] page
 * @property {number} [opens_panel] version of the panel that opens it, 0 if it does not open
 * @property {number} [version] number of steps, with which the browser draws what it drew ahead of Python again
 * @property {number} [n_failures] a changed number makes the browser repeat failed requests
 * @property {DraftSpec | null} [draft]
 * @property {StorySpec | null} [story] last saved view that was shown
 * @property {FilmStripSpec[]} [film_strip]
 * @property {PeriodsSpec | null} [periods]
 * @property {SpreadSpec | null} [spread] null if it cannot be measured
 * @property {DemoSpec | null} [demo] example statement of a sample
 * @property {ChartsSpec | null} [charts] charts below the map of the app
 * @property {string} [me] name of the visitor, if selections are exchanged with others
 * @property {string} [linked_group] maps of a group share selection and camera
 * @property {boolean} [regions] whether regions are named, apart from the stage
 */

/**
 * @typedef {object} PanelSpec
 * @property {string} tab
 * @property {string[]} loaded tabs on the page
 * @property {string} view
 * @property {boolean} wide
 * @property {number} version
 * @property {boolean} open
 * @property {boolean} has_selection
 * @property {Record<string, string>} close_texts
 * @property {string} best_close
 * @property {string} [assets]
 */

/**
 * @typedef {object} ProposalSpec
 * @property {[number, number, string, string][]} pairs rows and titles
 * @property {number} n_asked
 * @property {[number, number][]} candidates row and certainty
 * @property {string} tab
 * @property {string} assets
 */

/**
 * @typedef {object} SelectionState
 * @property {string} packed
 * @property {number} count
 * @property {number} version
 * @property {string} fingerprint
 */

/**
 * @typedef {object} StatementRequest
 * @property {number} number
 * @property {"group" | "statement" | "drop" | "cancel" | "spread"} kind
 * @property {string} [group]
 * @property {string} [packed]
 * @property {string} [statement]
 * @property {number} [row]
 * @property {number} [x]
 * @property {number} [y]
 * @property {number} [onto] row that an item was dropped onto
 */

/**
 * @typedef {object} StatementRequests
 * @property {StatementRequest[]} requests
 * @property {string | undefined} fingerprint
 */

/**
 * Component of Streamlit, or the widget of a notebook.
 *
 * @template {object} T
 * @typedef {object} Component
 * @property {T} data
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

export {};
