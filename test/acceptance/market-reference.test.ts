// Everything that the market data stream sends is described in the service's own /asyncapi.json, and by one message each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { closed } from './closed.ts'
import { CHANNELS } from './market-forms.ts'
import { MarketStage } from './market-stage.ts'

test('each message is of exactly one form that is described, and every form that is described is met', async () => {
  await using stage = await MarketStage.open()
  const forms = await described(stage.service.url)
  const viewer = await stage.viewer()
  const { items } = await stage.sandbox(viewer, '/expirations?underlying=SPY')
  const met = new Set<string>()
  const faults: string[] = []
  await using client = await stage.knock()
  client.onMessage = message => {
    const names = [...forms].filter(([, fits]) => fits(message)).map(([name]) => name)
    if (names.length !== 1) faults.push(`${names.length === 0 ? 'none' : names} describes ${JSON.stringify(message).slice(0, 400)}`)
    for (const name of names) met.add(name)
  }
  await client.ask({ action: 'authenticate', access_token: 'mdt_nothing' })
  await client.authenticate(await viewer.token())
  const more: Readonly<Record<string, Body>> = {
    bars: { interval: '1m', backfill_nbars: 2 },
    options_chain: { expiration: items[0].expiration }
  }
  for (const channel of CHANNELS) await client.updated(await client.subscribe(channel, 'SPY', more[channel]), 3)
  await client.updated(await client.subscribe('options_chain', 'SPY', { ...more.options_chain, greeks: true }), 3)
  await client.list()
  await client.snapshot('SPY', '1m', '2026-03-04T15:00:00Z', '2026-03-04T15:10:00Z')
  await client.unsubscribe('1')
  for (const message of ['{', { action: 'fly', request_id: 'x' }, { action: 'unsubscribe', sub_id: '99', request_id: 'y' }])
    client.send(message)
  await stage.control('POST', '/streams', { on: 'market', do: 'drop' })
  await client.until(() => client.notices.some(({ sub_ids }) => sub_ids !== undefined), 'an interruption is sent')
  assert.deepEqual(faults, [])
  assert.deepEqual(
    [...forms.keys()].filter(name => !met.has(name)),
    []
  )
})

/** The messages that the service documents, by name. */
async function described(url: string): Promise<ReadonlyMap<string, (message: Body) => boolean>> {
  const document: Body = await (await fetch(`${url}/asyncapi.json`)).json()
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
  addFormats.default(ajv)
  ajv.addSchema({ ...closed(document), $id: 'stream' })
  const [channel, { address }] =
    Object.entries<Body>(document.channels).find(([, { address }]) => address === '/market-data/stream') ?? assert.fail()
  assert.equal(address, '/market-data/stream')
  const ours = Object.values<Body>(document.operations).filter(operation => operation.channel.$ref === `#/channels/${channel}`)
  // What answers a request stands beside the request.
  const names = ours.flatMap(({ action, messages = [], reply }) => [...(action === 'send' ? messages : []), ...(reply?.messages ?? [])])
  const own = new Set<string>(names.map(({ $ref }: Body) => $ref.split('/').at(-1)))
  return new Map(
    [...own].map(name => {
      const at: string = document.channels[channel].messages[name].$ref
      const isFit = ajv.compile({ $ref: `stream${at}/payload` })
      return [name, (message: Body) => isFit(message) === true]
    })
  )
}
