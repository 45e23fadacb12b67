/** Lists in numbered pages, where the broker pages and where it does not. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpReply } from '../../../src/kit/http.ts'
import { readJson } from '../../../src/kit/json.ts'
import { object, text, type Wire } from '../../../src/kit/parse.ts'
import { get } from '../../../src/kit/requests.ts'
import type { ListRead } from '../../../src/kit/runtime/read-definitions.ts'
import { numberedPages, Reads } from '../../../src/kit/runtime/reads.ts'
import { systemClock } from '../../support/clocks.ts'

const FULL = 2
const never = new AbortController().signal

function records({ body }: HttpReply): readonly Wire[] {
  const parsed = readJson(body)
  assert.ok(Array.isArray(parsed))
  return parsed.map(entry => object(entry, 'record'))
}

/** Reads a list whose pages are answered by `pageOf`; `isKeyed`: its records have ids. */
async function read(pageOf: (page: number) => readonly object[], isKeyed: boolean): Promise<{ ids: readonly string[]; pages: number }> {
  let pages = 0
  const calls = {
    of: () => ({
      read: async (request: { path: string }, parse: (reply: HttpReply) => unknown) => {
        pages += 1
        return parse({ status: 200, headers: {}, body: JSON.stringify(pageOf(Number(request.path.split('=')[1]))) })
      }
    })
  }
  const list: ListRead<'list', null, string> = {
    resource: 'list',
    request: (_query, page) => get('/list', { page: page ?? '1' }),
    page: numberedPages(FULL, records),
    pagesMax: 5,
    pageLimits: [FULL],
    items: found => ({ known: found.map(record => text(record, 'id')), leftOut: [] }),
    ...(isKeyed ? { keyOf: (record: Wire) => text(record, 'id') } : {})
  }
  const { known } = await new Reads<'list'>(Object(calls), Object({}), systemClock).list(list, null, never)
  return { ids: known, pages }
}

const order = (id: number) => ({ id: String(id) })

test('the list ends with a page that is not full, and a record that moved to the next page counts once', async () => {
  const pages = [[order(1), order(2)], [order(2), order(3)], [order(4)]]
  assert.deepEqual(await read(page => pages[page - 1] ?? [], true), { ids: ['1', '2', '3', '4'], pages: 3 })
})

test('a broker that ignores the page number has one page, with ids and without', async () => {
  for (const isKeyed of [true, false])
    assert.deepEqual(await read(() => [order(1), order(2), order(3)], isKeyed), { ids: ['1', '2', '3'], pages: 2 })
})

test('without ids equal records on different pages are different ones', async () => {
  const pages = [[order(1), order(1)], [order(1), order(2)], []]
  assert.deepEqual((await read(page => pages[page - 1] ?? [], false)).ids, ['1', '1', '1', '2'])
})

test('a page that is sent again is not the whole list if it may have been cut at its limit', async () => {
  let requested = 0
  const again = () => {
    requested += 1
    return [order(1), order(2)]
  }
  await assert.rejects(read(again, true), /again and again/)
  assert.equal(requested, 2, 'no further page is requested in vain')
  const equal = [order(1), order(1)]
  const pages = [equal, equal, [order(2)]]
  assert.deepEqual((await read(page => pages[page - 1] ?? [], false)).ids, ['1', '1', '1', '1', '2'])
})

test('more pages than a list may have are a fault', async () => {
  await assert.rejects(
    read(page => [order(2 * page), order(2 * page + 1)], true),
    /more than 5 pages/
  )
})
