// A service that offers more brokers than anybody reads through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrokerId } from '@trunkline/core/domain/ids'
import { Browser, openScene } from './support.ts'

test('two hundred brokers fit a page, and are found by search', async () => {
  await using scene = await openScene({
    brokers: real =>
      new Map(
        [...real.values()].slice(0, 1).flatMap(definition =>
          Array.from({ length: 200 }, (_, index) => {
            const id = `BROKER_${index}` as BrokerId
            const capabilities = { ...definition.capabilities, id, name: `Broker ${index} of Ljubljana` }
            return [id, { ...definition, capabilities }] as const
          })
        )
      )
  })
  const browser = new Browser()
  const link = await scene.link('many', { broker: undefined })
  const { html } = await browser.get(link)
  assert.equal(html.match(/name="broker"/g)?.length, 200)
  assert.ok(html.length < 200_000)
  assert.equal((await browser.get(`${link}?search=ljubljana+17`)).html.match(/name="broker"/g)?.length, 12, '17, 117 and 170 to 179')
})
