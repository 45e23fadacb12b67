import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MetricsPage } from '../../src/ops/metrics-page.ts'
import { metricsToken } from '../../src/ops/metrics-token.ts'

/** A page whose renderings end when the test says so. */
function pageAt(now: () => number): { readonly page: MetricsPage; readonly rendering: PromiseWithResolvers<string>[] } {
  const rendering: PromiseWithResolvers<string>[] = []
  const begin = () => {
    const next = Promise.withResolvers<string>()
    rendering.push(next)
    return next.promise
  }
  return { page: new MetricsPage(begin, now), rendering }
}

test('however many read the metrics, they are rendered by one at a time and once a second', async () => {
  let now = 0
  const { page, rendering } = pageAt(() => now)
  const readers = Array.from({ length: 40 }, () => page.read())
  now = 5_000
  readers.push(page.read())
  assert.equal(rendering.length, 1, 'a rendering that takes long is the same for all')
  rendering[0]?.resolve('first')
  assert.deepEqual(new Set((await Promise.all(readers)).map(({ number, text }) => `${number} ${text}`)), new Set(['1 first']))
  now = 999
  assert.equal((await page.read()).text, 'first')
  now = 1_000
  const next = page.read()
  rendering[1]?.resolve('second')
  assert.deepEqual(await next, { number: 2, text: 'second' })
})

test('a rendering that hangs holds up requests within ten seconds, and none after them', async () => {
  let now = 0
  const { page, rendering } = pageAt(() => now)
  const early = page.read()
  now = 9_999
  assert.equal(page.read(), early)
  now = 10_000
  const late = page.read()
  rendering[1]?.resolve('second')
  assert.equal((await late).text, 'second')
  rendering[0]?.resolve('first')
  assert.equal((await early).text, 'first')
  now = 10_500
  assert.equal((await page.read()).text, 'second', 'what came late replaces nothing')
})

test('a rendering that fails is not remembered', async () => {
  let fails = true
  const page = new MetricsPage(
    async () => {
      if (fails) throw new Error('no')
      return 'yes'
    },
    () => 0
  )
  await assert.rejects(page.read(), /no/)
  fails = false
  assert.equal((await page.read()).text, 'yes')
})

test('the token is made once, is private, and is made again where the file holds none', context => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-metrics-'))
  context.after(() => rmSync(folder, { recursive: true }))
  let count = 0
  const token = () => metricsToken(folder, () => `mt_made-for-the-${++count}-time`)
  assert.equal(token(), 'mt_made-for-the-1-time')
  assert.equal(token(), 'mt_made-for-the-1-time')
  assert.equal(statSync(join(folder, 'metrics-token')).mode & 0o777, 0o600)
  writeFileSync(join(folder, 'metrics-token'), '')
  assert.equal(token(), 'mt_made-for-the-2-time')
})
