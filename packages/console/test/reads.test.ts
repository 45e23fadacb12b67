import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { focusManager, InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import type { Page, ReadRequest } from '../src/api.ts'
import { listQuery } from '../src/reads.ts'

/** A list of three pages on a real socket, and the cursors with which it was read. */
async function listed() {
  const asked: (string | null)[] = []
  const server = createServer((request, response) => {
    const cursor = new URL(request.url ?? '', 'http://list').searchParams.get('cursor')
    asked.push(cursor)
    const page = Number(cursor ?? 0)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [page], next_cursor: page < 2 ? String(page + 1) : null }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  const request: ReadRequest<Page<number>> = { method: 'GET', path: `http://127.0.0.1:${address.port}/list` }
  const queries = new QueryClient()
  queries.mount()
  const list = new InfiniteQueryObserver(queries, listQuery(request))
  const leave = list.subscribe(() => undefined)
  await list.refetch()
  return {
    ...{ asked, list },
    async returnToWindow() {
      focusManager.setFocused(false)
      focusManager.setFocused(true)
      // The library takes notice in its next turn.
      await setImmediate()
    },
    [Symbol.asyncDispose]: async () => {
      leave()
      queries.unmount()
      queries.clear()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

test('a list of many pages is not read again because its window is used again; a list of one page is', async () => {
  await using one = await listed()
  await one.returnToWindow()
  assert.equal(one.list.getCurrentResult().isFetching, true)
  await one.list.refetch({ cancelRefetch: false })
  assert.deepEqual(one.asked, [null, null])
  await one.list.fetchNextPage()
  await one.returnToWindow()
  assert.equal(one.list.getCurrentResult().isFetching, false)
  assert.deepEqual(one.asked, [null, null, '1'])
  await one.list.refetch()
  assert.deepEqual(one.asked, [null, null, '1', null, '1'])
})
