// Lists in pages: every one of them or a fault.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { everyPage } from '../../src/kit/pages.ts'

const isFault = (kind: BrokerFault['kind']) => (error: unknown) => error instanceof BrokerFault && error.kind === kind

/** Pages by cursor. */
function venue(pages: Readonly<Record<string, string | null>>) {
  const requests: (string | null)[] = []
  const read = async (next: string | null) => {
    requests.push(next)
    return { of: next, next: pages[next ?? 'first'] ?? null }
  }
  return { requests, read }
}

test('each page is requested with the cursor of the one before it', async () => {
  const { requests, read } = venue({ first: 'b', b: 'c' })
  const pages = await everyPage(3, read)
  assert.deepEqual(
    pages.map(page => page.of),
    [null, 'b', 'c']
  )
  assert.deepEqual(requests, [null, 'b', 'c'])
})

test('a page that points to itself is a fault, and so are more pages than a list may have [S77]', async () => {
  await assert.rejects(everyPage(9, venue({ first: 'b', b: 'b' }).read), isFault('malformed'))
  const endless = venue({ first: 'b', b: 'c', c: 'b' })
  await assert.rejects(everyPage(5, endless.read), isFault('refused'))
  assert.equal(endless.requests.length, 5)
})

test('a page that cannot be read ends it with the cause', async () => {
  const lost = new BrokerFault('unreachable', 'gone')
  await assert.rejects(
    everyPage(9, () => Promise.reject(lost)),
    error => error === lost
  )
})
