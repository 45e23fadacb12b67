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
  none: 'Not offered: cancel, and place another.'
}

const DEDUPLICATION: { readonly [kind in BrokerCapabilities['deduplication']]: string } = {
  enforced:
    'The broker refuses an order id it has ever seen, and finds orders by it: what became of an order whose answer was lost is certain.',
  bounded:
    'The broker refuses an order id it saw lately, and finds orders by it. That an order never arrived is believed after twice the usual time.',
  open_only:
    'The broker refuses an order id only while its order is open. That an order never arrived is believed after twice the usual time.',
  label: 'The broker only repeats our order id. That an order never arrived is believed after five times the usual time.',
  none: 'The broker knows no order ids of ours. An order whose answer was lost stays open until the broker shows it; it never counts as not arrived.'
}

/** Rows of a broker's settings: name, default, what it does. */
export type BrokerRows = ReadonlyMap<string, readonly (readonly [string, string, string])[]>

/** The matrix and one page a broker, by path below the documents' folder. */
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
    'What each broker can do, as `GET /brokers` has it. Not every order type goes with every instrument: see the page of the broker, which has its settings too.\n',
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
    ['Account stream', broker.accountStream ? 'yes' : 'no: changes are found by asking'],
    ['Transactions', yes(broker.transactions)],
    ['Order preview', yes(broker.orderPreview)],
    ['When an answer is lost', DEDUPLICATION[broker.deduplication]],
    ['Order ids at the broker', broker.deduplication === 'none' ? 'none of ours' : idsOf(brokerClOrdId)]
  ]
  const data = [
    ['Channels', listed(marketData.channels)],
    ['Bars of its own', listed(marketData.historyIntervals)],
    ['… reach back', reachOf(marketData)],
    ['A day of a share', marketData.dailyBars === 'core' ? 'the core session' : 'all hours'],
    ['… also of its own', listed(marketData.dailySessions)],
    ['Volume of live bars', marketData.liveVolume === 'all' ? 'all that is traded' : 'what sets a price'],
    ['Search for symbols', yes(marketData.symbolSearch)],
    ['Sessions', listed(broker.sessions)]
  ]
  return [
    GENERATED,
    `# ${broker.name}\n`,
    table(['', ''], facts),
    '## Orders\n',
    table(['Instrument', 'Order types', 'Times in force', 'Sides', 'A modify changes'], orders),
    '### What goes together\n',
    'Every form of order that is taken; any other is refused before the broker is asked. With *in session* the broker takes it only while what it is for is on.\n',
    table(['Instrument', 'Order type', 'Time in force', 'Trades', 'Placed', 'Sizes'], together(combinationsOf(broker))),
    '## Market data\n',
    marketData.channels.length === 0 ? 'None.\n' : table(['', ''], data),
    ...(settings.length === 0 ? [] : ['## Settings\n', REAL, table(['Name', 'Default', 'What it does'], settings)])
  ].join('\n')
}

const REAL =
  'Without a client of yours, or keys, the sandbox brokerage stands in for the broker. Live accounts also take master keys outside the data directory, and a platform of your own: [Going live](../guides/brokers.md#going-live).\n'

/** One row for times in force that differ in nothing else. */
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
  return some.length === 0 ? 'as far as there are any' : some.join(', ')
}
