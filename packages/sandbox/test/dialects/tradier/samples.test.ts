/**
 * The samples of Tradier's documentation, composed from the fields it names, compared with what the dialect answers: only documented
 * fields, each of the documented type.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { beginningAt, control, SECRET, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream, send } from './support.ts'

const FOLDER = join(import.meta.dirname, 'fixtures')

/** What may be absent or null in an answer, by its path in the sample. */
const MAY_BE_NULL = /\.(open|high|low|close|last|change|change_percentage|prevclose)$/

function sampleOf(name: string): Wire {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))
}

/** Where the two differ; a list is compared with the sample's first item, or with the item that it was collapsed to. */
function differences(sample: Wire, found: Wire, path: string): readonly string[] {
  if (Array.isArray(sample))
    return found === undefined ? [`${path} is missing`] : [found].flat().flatMap(item => differences(sample[0], item, path))
  if (Array.isArray(found)) return found.flatMap(item => differences(sample, item, path))
  if (found === null && MAY_BE_NULL.test(path)) return []
  if (typeof sample !== typeof found || (sample === null) !== (found === null))
    return [`${path} is ${JSON.stringify(found)}, documented is ${JSON.stringify(sample)}`]
  if (typeof sample !== 'object' || sample === null)
    return formOf(sample) === formOf(found) ? [] : [`${path} is written ${found}, documented is ${sample}`]
  return Object.keys(found).flatMap(name => {
    const at = `${path}.${name}`
    return name in sample ? differences(sample[name], found[name], at) : [`${at} is not documented`]
  })
}

/** The form of a text, where it has one. */
function formOf(value: unknown): string {
  if (typeof value !== 'string') return ''
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return value.endsWith('Z') || /[+-]\d\d:\d\d$/.test(value) ? 'time' : 'local time'
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'date'
  return /^\d{13}$/.test(value) ? 'milliseconds' : ''
}

describe('the documented samples', () => {
  let brokerage: Brokerage
  let client: Client
  const held = new Set<string>()

  function hold(name: string, found: Wire): void {
    held.add(name)
    assert.deepEqual(differences(sampleOf(name), found, name), [])
  }

  before(async () => {
    brokerage = await openBrokerage({ config: { calendar: 'exchange' }, deps: { realNow: beginningAt('2026-11-24T16:00:00Z') } })
    await control(brokerage, 'PUT', '/clock', { set: '2026-11-24T16:30:00Z' })
    await control(brokerage, 'PUT', '/market/SPY', { price: '600.00' })
    client = await Client.of(brokerage)
  })
  after(() => brokerage?.close())

  test('the customer and the accounts', async () => {
    hold('profile', (await client.get('/user/profile')).body)
    await client.placed(client.buy(3))
    hold('positions', (await client.get(`/accounts/${client.margin}/positions`)).body)
    hold('balances.margin', (await client.get(`/accounts/${client.margin}/balances`)).body)
    hold('balances.cash', (await client.get(`/accounts/${client.cash}/balances`)).body)
    await client.placed(client.buy(3, { side: 'sell' }))
    const { event } = (await client.get(`/accounts/${client.margin}/history`)).body.history
    hold('history.trade', { history: { event: event.filter(({ type }: Wire) => type === 'trade') } })
  })

  test('orders', async () => {
    const placed = await client.order({ tag: 'sample', price: '590.00' })
    hold('order.placed', placed.body)
    hold('order.changed', (await client.call('PUT', `/accounts/${client.margin}/orders/${placed.body.order.id}`, { price: '591.00' })).body)
    const { body } = await client.get(`/accounts/${client.margin}/orders`, { includeTags: 'true' })
    hold('orders.open', { orders: { order: body.orders.order.find(({ status }: Wire) => status === 'open') } })
    hold('order.refused', (await client.order({ quantity: 1_000_000 })).body)
    hold('order.preview', (await client.buy(10, { preview: 'true' })).body)
  })

  test('an order of several legs', async () => {
    const { date } = (await client.get('/markets/options/expirations', { symbol: 'SPY' })).body.expirations
    const { option } = (await client.get('/markets/options/chains', { symbol: 'SPY', expiration: date[0] })).body.options
    const [short, long] = option.filter(({ option_type: type, bid }: Wire) => type === 'put' && bid > 1)
    const id = await client.placed(
      client.call('POST', `/accounts/${client.margin}/orders`, {
        ...{ class: 'multileg', symbol: 'SPY', duration: 'day', type: 'debit', price: '25.00' },
        ...{ 'side[0]': 'buy_to_open', 'quantity[0]': 1, 'option_symbol[0]': long.symbol },
        ...{ 'side[1]': 'sell_to_open', 'quantity[1]': 1, 'option_symbol[1]': short.symbol }
      })
    )
    const order = await client.find(id)
    assert.equal(order.status, 'filled')
    hold('order.multileg', { order })
    hold('quotes.option', (await client.get('/markets/quotes', { symbols: long.symbol, greeks: 'true' })).body)
  })

  test('the account stream', async () => {
    const stream = await Stream.ofAccounts(client)
    hold('stream.session', (await client.call('POST', '/accounts/events/session')).body)
    hold('stream.heartbeat', stream.messages[0])
    await client.placed(client.order({ tag: 'streamed' }))
    await stream.until(({ orders }) => orders.length === 2)
    for (const order of stream.orders) hold('stream.order', order)
  })

  test('the market stream', async () => {
    const { body } = await client.call('POST', '/markets/events/session')
    const stream = await Stream.open(brokerage, 'markets')
    stream.send({ symbols: ['SPY'], sessionid: body.stream.sessionid })
    await stream.until(({ messages }) => messages.some(({ type }) => type === 'quote'))
    await control(brokerage, 'PUT', '/market/SPY', { price: '600.10' })
    for (const type of ['quote', 'timesale']) {
      await stream.until(({ messages }) => messages.some(message => message.type === type))
      hold(
        `stream.${type}`,
        stream.messages.find(message => message.type === type)
      )
    }
  })

  test('market data', async () => {
    hold('quotes.stock', (await client.get('/markets/quotes', { symbols: 'SPY' })).body)
    hold('history.day', (await client.get('/markets/history', { symbol: 'SPY', interval: 'daily', start: '2026-11-16' })).body)
    hold('timesales', (await client.get('/markets/timesales', { symbol: 'SPY', interval: '1min' })).body)
    hold('expirations', (await client.get('/markets/options/expirations', { symbol: 'SPY' })).body)
    hold('clock', (await client.get('/markets/clock')).body)
  })

  test('tokens and faults', async () => {
    hold('fault', (await client.call('GET', '/user/profile', null, { authorization: 'Bearer nonsense' })).body)
    const form = { grant_type: 'refresh_token', refresh_token: client.refreshToken }
    const authorization = `Basic ${Buffer.from(`trunkline:${SECRET}`).toString('base64')}`
    hold('token', (await send(`${brokerage.url}/tradier/v1/oauth/refreshtoken`, 'POST', form, { authorization })).body)
  })

  test('no sample is left out', () => {
    assert.deepEqual(
      readdirSync(FOLDER).filter(name => !held.has(name.replace(/\.json$/, ''))),
      []
    )
  })
})
