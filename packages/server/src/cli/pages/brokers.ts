import { type Combination, combinationsOf } from '@trunkline/core/domain/combinations'
import { INSTRUMENTS, type Instrument, ORDER_TYPES, REPLACE_FIELDS, SIDES, TIMES_IN_FORCE } from '@trunkline/core/domain/vocabulary'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import { code, GENERATED, table } from './markdown.ts'

const NAMES: { readonly [instrument in Instrument]: string } = {
  STK: 'shares',
  OPT: 'options',
  MLEG_OPT: 'option strategies',
  FUT: 'futures',
  CRYPTO: 'crypto'
}

const REPLACE: { readonly [way in BrokerCapabilities['replace']]: string } = {
  native: 'The broker replaces an order in one step.',
  cancel_then_new: 'An order is cancelled, and the new one is placed once the cancel is confirmed.',
  none: 'Not offered: cancel the order and place another.'
}

const DEDUPLICATION: { readonly [kind in BrokerCapabilities['deduplication']]: string } = {
  enforced:
    'The broker refuses every client order id that it has seen before, and finds orders by it. The outcome of an order whose answer was lost is therefore certain.',
  bounded:
    'The broker refuses a client order id that it saw recently, and finds orders by it. An order counts as never received after twice the usual time.',
  open_only:
    'The broker refuses a client order id only while its order is open. An order counts as never received after twice the usual time.',
  label: 'The broker only echoes our client order id. An order counts as never received after five times the usual time.',
  none: 'The broker stores no client order id. An order whose answer was lost stays open until the broker shows it; it never counts as never received.'
}

/** Rows of a broker's settings: name, default, description. */
export type BrokerRows = ReadonlyMap<string, readonly (readonly [string, string, string])[]>

/** The matrix and one page for each broker, by path within the documents' folder. */
export function brokerPages(brokers: readonly BrokerCapabilities[], settings: BrokerRows): readonly (readonly [string, string])[] {
  const pages = brokers.map(broker => [pathOf(broker), page(broker, settings.get(broker.id) ?? [])] as const)
  return [['brokers/README.md', matrix(brokers)], ...pages]
}

function pathOf({ id }: BrokerCapabilities): string {
  return `brokers/${id.toLowerCase()}.md`
}

function matrix(brokers: readonly BrokerCapabilities[]): string {
  const rows = brokers.map(broker => [
    `[${broker.name}](${broker.id.toLowerCase()}.md)`,
    code(broker.id),
    broker.login === 'oauth' ? 'at the broker' : 'API key',
    broker.instruments.map(instrument => NAMES[instrument]).join(', '),
    union(ORDER_TYPES, broker.orderTypes),
    union(TIMES_IN_FORCE, broker.timesInForce),
    broker.replace === 'native' ? 'yes' : broker.replace === 'none' ? 'no' : 'cancel, then new',
    yes(broker.notional),
    yes(broker.fractional),
    yes(broker.accountStream),
    yes(broker.transactions),
    yes(broker.orderPreview),
    listed(broker.marketData.channels)
  ])
  const head = ['Broker', 'Name in the API', 'Login', 'Instruments', 'Order types', 'Times in force', 'Modify', 'By amount', 'Fractions']
  return [
    GENERATED,
    '# Brokers\n',
    'This table shows what each broker can do, as `GET /brokers` reports it.\nNot every order type is available for every instrument: see the page of the broker, which also lists its settings.\n',
    table([...head, 'Account stream', 'Transactions', 'Preview', 'Market data'], rows)
  ].join('\n')
}

function page(broker: BrokerCapabilities, settings: readonly (readonly string[])[]): string {
  const orders = INSTRUMENTS.filter(instrument => broker.instruments.includes(instrument)).map(instrument => [
    `${code(instrument)} ${NAMES[instrument]}`,
    listed(inOrder(ORDER_TYPES, broker.orderTypes[instrument])),
    listed(inOrder(TIMES_IN_FORCE, broker.timesInForce[instrument])),
    listed(inOrder(SIDES, broker.sides[instrument])),
    listed(inOrder(REPLACE_FIELDS, broker.replaceFields[instrument]))
  ])
  const { marketData, brokerClOrdId } = broker
  const facts = [
    ['Name in the API', code(broker.id)],
    ['Login', broker.login === 'oauth' ? 'at the broker’s own page (OAuth)' : 'an API key, entered in the portal'],
    ['Quantity by amount (`order_notional`)', yes(broker.notional)],
    ['Fractions', yes(broker.fractional)],
    ['Modify', REPLACE[broker.replace]],
    ['Account stream', broker.accountStream ? 'yes' : 'no: changes are found by polling'],
    ['Transactions', yes(broker.transactions)],
    ['Order preview', yes(broker.orderPreview)],
    ['When an answer is lost', DEDUPLICATION[broker.deduplication]],
    ['Order ids at the broker', broker.deduplication === 'none' ? 'none of ours' : idsOf(brokerClOrdId)]
  ]
  const data = [
    ['Channels', listed(marketData.channels)],
    ['The broker’s own bars', listed(marketData.historyIntervals)],
    ['How far they reach back', reachOf(marketData)],
    ['A daily bar of a share covers', marketData.dailyBars === 'core' ? 'the core session' : 'all hours'],
    ['Daily bars also by session', listed(marketData.dailySessions)],
    ['Volume of live bars', marketData.liveVolume === 'all' ? 'all trades' : 'trades that set a price'],
    ['Symbol search', yes(marketData.symbolSearch)],
    ['Sessions', listed(broker.sessions)]
  ]
  return [
    GENERATED,
    `# ${broker.name}\n`,
    table(['', ''], facts),
    '## Orders\n',
    table(['Instrument', 'Order types', 'Times in force', 'Sides', 'Can be modified'], orders),
    '### Valid combinations\n',
    'These are all the combinations that are accepted. The service refuses any other before it contacts the broker.\n*In session* means that the broker accepts the order only during the session it is for.\n',
    table(['Instrument', 'Order type', 'Time in force', 'Trades', 'Placed', 'Sizes'], together(combinationsOf(broker))),
    '## Market data\n',
    marketData.channels.length === 0 ? 'None.\n' : table(['', ''], data),
    ...(settings.length === 0 ? [] : ['## Settings\n', REAL, table(['Name', 'Default', 'What it does'], settings)])
  ].join('\n')
}

const REAL =
  'Without your own client or keys, the sandbox brokerage emulates the broker.\nLive accounts also need master keys outside the data directory, and your own platform:\n[Going live](../guides/brokers.md#going-live).\n'

/** Combines rows that differ only in their time in force. */
function together(combinations: readonly Combination[]): readonly (readonly string[])[] {
  const rows = new Map<string, { readonly row: readonly string[]; readonly tifs: string[] }>()
  for (const { instrument, type, tif, hours, placed, sizes } of combinations) {
    const rest = [hours.replaceAll('_', ' '), placed === 'in_session' ? 'in session' : 'at any time', listed(sizes)]
    const row = [code(instrument), code(type), ...rest]
    const known = rows.get(row.join())
    if (known === undefined) rows.set(row.join(), { row, tifs: [tif] })
    else known.tifs.push(tif)
  }
  return [...rows.values()].map(({ row, tifs }) => [...row.slice(0, 2), listed(tifs), ...row.slice(2)])
}

function idsOf({ lengthMax, alphabet }: BrokerCapabilities['brokerClOrdId']): string {
  return `up to ${lengthMax} characters, ${alphabet === 'uuid' ? 'a UUID' : 'letters and digits'}`
}

function union<Value extends string>(
  values: readonly Value[],
  byInstrument: { readonly [instrument in Instrument]?: readonly Value[] }
): string {
  return listed(inOrder(values, Object.values(byInstrument).flat()))
}

function inOrder<Value extends string>(values: readonly Value[], some: readonly Value[] = []): readonly Value[] {
  return values.filter(value => some.includes(value))
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.map(code).join(' ')
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no'
}

function reachOf({ historyDays }: BrokerCapabilities['marketData']): string {
  const some = Object.entries(historyDays).map(([interval, days]) => `${interval}: ${days} days`)
  return some.length === 0 ? 'no limit stated' : some.join(', ')
}
