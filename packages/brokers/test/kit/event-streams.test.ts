// The streams of one login end with it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventStreams, type StreamEnd } from '../../src/kit/event-streams.ts'

function stream({ signal, ended }: StreamEnd) {
  const closed: string[] = []
  return {
    signal,
    ended,
    closed,
    async close() {
      closed.push('closed')
    }
  }
}

const never = new AbortController().signal

test('closing the login closes what is open, and not what has ended', async () => {
  const streams = new EventStreams()
  const open = streams.open(never, stream)
  const over = streams.open(never, stream)
  over.ended()
  await streams[Symbol.asyncDispose]()
  assert.deepEqual([open.closed, over.closed], [['closed'], []])
  assert.equal(open.signal, never)
})

test('what is opened after that ends at once', async () => {
  const streams = new EventStreams()
  await streams[Symbol.asyncDispose]()
  assert.equal(streams.open(never, stream).signal.aborted, true)
})
