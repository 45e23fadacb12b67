// Words of our own making that gave way to the field's (docs/glossary.md), each with what to say instead, and where it stands all the same.
import { type Piece, piecesOf } from './pieces.ts'

/** In names: of identifiers, files and folders. A word, or several that follow each other in a name; plurals are listed with it. */
export const RETIRED_IN_NAMES: readonly (readonly [words: string, instead: string])[] = [
  ['house|houses', 'sandbox or Brokerage'],
  ['desk|desks', 'OrderWriter in core, OrderService in the sandbox'],
  ['tell|tells|told|telling', 'emit, publish, report or send'],
  ['hear|hears|heard', 'receive, received or onMessage'],
  ['said|say|says|saying', 'send, sent, print or report'],
  ['speak|speaks|spoke|spoken', 'send, or the protocol'],
  ['tongue|tongues', 'protocol'],
  ['prose|sentence|sentences', 'description or message'],
  ['words', 'enums, values, UnknownValueCounter or message'],
  ['book|books', 'state, ledger or registry; a limit order book stays'],
  ['person|persons|people', 'user, or customer in the sandbox'],
  ['stranger|strangers', 'unauthenticated'],
  ['package|packages', 'multi-leg or spread; npm has packages'],
  ['coin|coins', 'crypto'],
  ['card|cards', 'ContractCase'],
  ['picture|pictures', 'snapshot'],
  ['sight|sights', 'view'],
  ['mischief|misbehave|misbehaves|misbehaving|weather', 'fault or fault injection'],
  ['trouble|troubles|troubled', 'fault, failure or problem'],
  ['fate|fates', 'outcome'],
  ['doubtful', 'unresolved or unknown'],
  ['nameless', 'untagged'],
  ['likeness', 'order matching'],
  ['talk|talks|talked|talking|conversation|conversations', 'StreamProtocol or protocol'],
  ['kept line', 'ReconnectingStream'],
  ['shared line', 'SharedStream'],
  ['socket line', 'SocketConnection'],
  ['line options', 'ConnectionOptions'],
  ['voice|voices', 'emitter'],
  ['hall|halls', 'StreamServer'],
  ['seat|seats|seated', 'StreamClient, or register'],
  ['lane|lanes', 'KeyedQueue or worker'],
  ['turn|turns', 'Semaphore, FlushScheduler or WorkQueue; an event loop has turns'],
  ['stream place', 'StreamPosition or session slot'],
  ['session places', 'session slots'],
  ['outbox|outboxes', 'SendBuffer'],
  ['budget|budgets', 'RateLimiter or quota'],
  ['mailbox|mailboxes', 'BoundedQueue'],
  ['keep newest', 'LruCache or LatestByKey'],
  ['door|doors', 'gateway'],
  ['room|rooms', 'endpoint or capacity'],
  ['entrance|entrances', 'auth scheme'],
  ['outlet|outlets', 'response writer'],
  ['visitor|visitors', 'browser session'],
  ['misfit|misfits', 'stale form'],
  ['departure|departures', 'redirect'],
  ['ending|endings', 'outcome, close reason or end'],
  ['learn|learns|learned|learnt|learning', 'applyReport or load'],
  ['pursue|pursues|pursued|pursuit', 'scheduleReconciliation'],
  ['mend|mends|mended|mending', 'recover or backfill'],
  ['news', 'EventPublisher, report or change'],
  ['pump|pumps', 'MarketDriver'],
  ['promise|promises', 'PendingReplacements; JavaScript has promises'],
  ['hole|holes', 'gap'],
  ['farewell|farewells', 'close reason'],
  ['act|acts', 'action, run or work'],
  ['anew', 'again'],
  ['whoever', 'the client that, the caller that'],
  ['owed|owes|owing', 'pending or expected'],
  ['nobody', 'none or NO_USER'],
  ['wish|wishes|wished', 'request or requested'],
  ['story|stories', 'details, output or scenario'],
  ['crowd|crowds', 'AdmissionControl']
]

/** Whole names. */
export const RETIRED_NAMES: ReadonlyMap<string, string> = new Map([
  ['DIRECTIONS', 'SIDES'],
  ['KINDS', 'ORDER_TYPES'],
  ['LIFETIMES', 'TIME_IN_FORCE'],
  ['STATES', 'STATUSES'],
  ['CLASSES', 'ASSET_CLASSES'],
  ['Books', 'SandboxState'],
  ['Talk', 'StreamProtocol'],
  ['Line', 'ClientConnection']
])

/** Names that hold a retired word for a reason, exactly as they are. */
export const STAYING_NAMES: ReadonlyMap<string, string> = new Map(
  (
    [
      ['JavaScript', 'Promise PromiseLike PromiseSettledResult PromiseWithResolvers promise promises openReadStreamPromise openPromise'],
      ['npm', 'package packages package.json package-lock.json readPackages PACKAGE_PATH packages.d.ts'],
      ['TanStack Router', 'Outlet'],
      ['a limit order book', 'book books bookOf newBook bookFields assertBook onBook closesBook storeBook restoreBook'],
      [
        'a limit order book',
        'orderBook OrderBook OrderBookSide LimitOrderBook StoredOrderBook order-book.ts order-book.test.ts market-books.test.ts'
      ],
      ['a limit order book of another library', 'watchOrderBook parseOrderBook normalizeBookChanges ccxtBooks'],
      ['a turn of the event loop, or of a run of the tests', 'turn nextTurn eventLoopTurns TRUNKLINE_TURN'],
      ['it becomes that of another bar', 'turnTo'],
      ['stored grants of the sandbox, and texts cut at spaces', 'words'],
      ['stored state of the sandbox', 'person'],
      ['stored state and wire of the sandbox', 'coin'],
      ['a stretch that ends after an instant', 'stretchEndingAfter'],
      ['the user `nobody` of the system', 'NOBODY_ID']
    ] as const
  ).flatMap(([reason, names]) => names.split(' ').map(name => [name, reason]))
)

/** Files and folders (with a slash at the end) that keep their words, and why. */
export const STAYING_PATHS: ReadonlyMap<string, string> = new Map([
  ['CHANGELOG.md', 'says what was, as it was called'],
  ['docs/glossary.md', 'explains the words'],
  ['packages/console/dist/', 'built, with the libraries in it, under names made of hashes'],
  ['packages/server/src/store/migrations/', 'frozen: their checksums are in databases'],
  ['packages/sandbox/test/brokerage/fixtures/', 'written by earlier versions'],
  ['packages/brokers/test/recordings/fixtures/', 'copied as they were recorded'],
  ['test/repo/vocabulary.ts', 'the table'],
  ['test/repo/vocabulary.test.ts', 'texts that must be found']
])

/** In prose: words that have no plain use in this project, wherever they stand, with what to write instead. */
export const RETIRED_IN_TEXTS: readonly (readonly [words: string, instead: string])[] = [
  ['house|houses', 'sandbox'],
  ['desk|desks', 'order writer'],
  ['told', 'sent, published or reported'],
  ['nameless', 'untagged'],
  ['mischief|misbehave|misbehaves|misbehaving', 'fault'],
  ['tongue|tongues', 'protocol'],
  ['anew', 'again'],
  ['whoever', 'the client that, the caller that'],
  ['doubtful', 'unresolved'],
  ['likeness', 'order matching'],
  ['owed', 'pending, due']
]

/** Texts that hold a word of {@link RETIRED_IN_TEXTS} for a reason, exactly as they are. */
export const STAYING_TEXTS: ReadonlyMap<string, string> = new Map([
  ['clearing house', 'of exchanges'],
  ['HOUSE', 'a venue, in what the sandbox stores and sends'],
  ['house.lock', 'a file of the data directory']
])

export interface Find {
  /** Where it begins in the text. */
  readonly index: number | null
  readonly name: string
  readonly word: string
  readonly instead: string
}

interface Term {
  readonly words: readonly string[]
  readonly instead: string
}

const TERMS: ReadonlyMap<string, readonly Term[]> = Map.groupBy(
  RETIRED_IN_NAMES.flatMap(([terms, instead]) => terms.split('|').map(term => ({ words: term.split(' '), instead }))),
  ({ words }) => words[0] ?? ''
)
const IN_TEXT: ReadonlyMap<string, string> = new Map(
  RETIRED_IN_TEXTS.flatMap(([words, instead]) => words.split('|').map(word => [word, instead] as const))
)
const TEXT_WORD = new RegExp(String.raw`(?<![\w$#./-])(?:${[...IN_TEXT.keys()].join('|')})(?![\w/])`, 'gi')
const SOURCE = /\.(ts|mjs|js)$/
const IDENTIFIER = /#?[A-Za-z_$][\w$]*/g
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** What is retired in a name, or null. Its words are those of camel case and of snake case. */
export function retiredIn(name: string): Pick<Find, 'word' | 'instead'> | null {
  const bare = name.replace(/^#/, '')
  if (STAYING_NAMES.has(bare)) return null
  const whole = RETIRED_NAMES.get(bare)
  if (whole !== undefined) return { word: bare, instead: whole }
  const words = (bare.match(WORD) ?? []).map(word => word.toLowerCase())
  for (const [at, word] of words.entries()) {
    const term = TERMS.get(word)?.find(one => one.words.every((part, offset) => words[at + offset] === part))
    if (term !== undefined) return { word: term.words.join(' '), instead: term.instead }
  }
  return null
}

const cut = new Map<string, readonly Piece[]>()

/** Both parts of the check look at every source. */
function cutOnce(source: string): readonly Piece[] {
  const pieces = cut.get(source) ?? piecesOf(source)
  cut.set(source, pieces)
  return pieces
}

/** Most names stand in many files. */
const known = new Map<string, ReturnType<typeof retiredIn>>()

/** The names in the code of a source text that hold a retired word; strings and comments are left to {@link textFindsIn}. */
export function nameFindsIn(source: string): readonly Find[] {
  const finds: Find[] = []
  for (const { kind, text, start } of cutOnce(source)) {
    if (kind !== 'code') continue
    for (const { 0: name, index } of text.matchAll(IDENTIFIER)) {
      const retired = known.has(name) ? (known.get(name) ?? null) : retiredIn(name)
      known.set(name, retired)
      if (retired !== null) finds.push({ index: start + index, name, ...retired })
    }
  }
  return finds
}

/** The retired words in the comments, strings and templates of a source text, or in a whole document. */
export function textFindsIn(file: string, text: string): readonly Find[] {
  const pieces = SOURCE.test(file) ? cutOnce(text).filter(({ kind }) => kind !== 'code' && kind !== 'regexp') : [{ text, start: 0 }]
  return pieces.flatMap(({ text, start }) =>
    [...text.matchAll(TEXT_WORD)]
      .filter(({ 0: word, index }) => ![...STAYING_TEXTS.keys()].some(whole => text.startsWith(whole, index - whole.indexOf(word))))
      .map(({ 0: word, index }) => ({
        ...{
          index: start + index,
          name: text
            .slice(Math.max(0, index - 30), index + 40)
            .replaceAll(/\s+/g, ' ')
            .trim()
        },
        ...{ word: word.toLowerCase(), instead: IN_TEXT.get(word.toLowerCase()) ?? '' }
      }))
  )
}

/** The names of a path, each folder's and the file's, that hold a retired word. */
export function pathFindsIn(path: string): readonly Find[] {
  return path.split('/').flatMap(name => {
    const retired = STAYING_NAMES.has(name) ? null : retiredIn(name)
    return retired === null ? [] : [{ index: null, name, ...retired }]
  })
}

/** Whether a path keeps its words, itself or with a folder above it. */
export function stays(path: string): boolean {
  return [...STAYING_PATHS.keys()].some(kept => (kept.endsWith('/') ? path.startsWith(kept) : path === kept))
}
