import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textFrame } from '../../src/stream/frame.ts'
import { OUTBOX_LIMITS, Outbox, type OutboxLimits, type Sink } from '../../src/stream/outbox.ts'
import { Turns } from '../../src/stream/turns.ts'

/** A reader that takes as much as it is told to, and turns of the event loop that end when told. */
class Bench {
  now = 0
  readonly turns: Turns
  #due: (() => void)[] = []

  constructor(limits: Partial<OutboxLimits> = {}) {
    this.limits = { ...OUTBOX_LIMITS, ...limits }
    this.turns = new Turns(
      this.limits,
      () => this.now,
      work => this.#due.push(work)
    )
  }

  readonly limits: OutboxLimits

  reader(): { readonly outbox: Outbox; readonly sink: Reader } {
    const sink = new Reader()
    return { outbox: new Outbox(sink, this.turns, this.limits), sink }
  }

  turn(): void {
    const due = this.#due
    this.#due = []
    for (const work of due) work()
  }
}

class Reader implements Sink {
  takes = true
  readonly pieces: Uint8Array[] = []
  given: string | null = null
  reliefs = 0

  write(bytes: Uint8Array): boolean {
    this.pieces.push(bytes)
    return this.takes
  }

  overflowed(reason: string): void {
    this.given = reason
  }

  relieved(): void {
    this.reliefs += 1
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString()
  }
}

const frame = (text: string): Uint8Array => Buffer.from(text)

test('what comes in one turn is written at its end, in one piece and in order', () => {
  const bench = new Bench()
  const { outbox, sink } = bench.reader()
  for (const text of ['a', 'b', 'c']) outbox.push(frame(text))
  assert.equal(sink.pieces.length, 0)
  bench.turn()
  assert.deepEqual(sink.pieces.map(String), [String(frame('abc'))])
})

test('readers owed the same frames share one piece', () => {
  const bench = new Bench()
  const [one, two, other] = [bench.reader(), bench.reader(), bench.reader()]
  const frames = ['a', 'b'].map(frame)
  for (const { outbox } of [one, two]) for (const each of frames) outbox.push(each)
  for (const each of ['a', 'c'].map(frame)) other.outbox.push(each)
  bench.turn()
  assert.equal(one.sink.pieces[0], two.sink.pieces[0])
  assert.equal(other.sink.text, 'ac')
})

test('while a reader takes nothing its frames wait, and come out in order afterwards', async () => {
  const bench = new Bench()
  const { outbox, sink } = bench.reader()
  sink.takes = false
  outbox.push(frame('a'))
  bench.turn()
  for (const text of ['b', 'c']) outbox.push(frame(text))
  bench.turn()
  assert.equal(sink.text, 'a')
  assert.equal(bench.turns.waitingBytes, 2)
  let isIdle = false
  const idle = outbox.idle().then(() => {
    isIdle = true
  })
  sink.takes = true
  outbox.drained()
  await idle
  assert.ok(isIdle)
  assert.equal(sink.text, 'abc')
  assert.equal(bench.turns.waitingBytes, 0)
})

test('a queue over its bound is given up whole, never thinned', () => {
  for (const limits of [{ messagesMax: 3 }, { bytesMax: 3 }]) {
    const bench = new Bench(limits)
    const { outbox, sink } = bench.reader()
    sink.takes = false
    outbox.push(frame('a'))
    bench.turn()
    for (const text of ['b', 'c', 'd']) outbox.push(frame(text))
    assert.equal(sink.given, null)
    outbox.push(frame('e'))
    assert.match(String(sink.given), /waited for it/)
    sink.takes = true
    outbox.drained()
    bench.turn()
    assert.equal(sink.text, 'a')
    assert.equal(bench.turns.waitingBytes, 0)
  }
})

test('a burst larger than the queue in one turn is no slow reader when its socket takes it', () => {
  const bench = new Bench({ messagesMax: 10 })
  const { outbox, sink } = bench.reader()
  const texts = Array.from({ length: 100 }, (_, index) => String(index % 10))
  for (const text of texts) outbox.push(frame(text))
  bench.turn()
  assert.equal(sink.given, null)
  assert.equal(sink.text, texts.join(''))
})

test('a reader that takes nothing for too long is given up', () => {
  const bench = new Bench({ stalledMs: 1_000 })
  const { outbox, sink } = bench.reader()
  sink.takes = false
  outbox.push(frame('a'))
  bench.turn()
  bench.now = 999
  bench.turns.sweep()
  assert.equal(sink.given, null)
  bench.now = 1_000
  bench.turns.sweep()
  assert.match(String(sink.given), /took nothing for 1 second/)
})

test('above the bound of the process the longest queue goes, and the others keep all', () => {
  const bench = new Bench({ allBytesMax: 10 })
  const [long, short] = [bench.reader(), bench.reader()]
  for (const { outbox, sink } of [long, short]) {
    sink.takes = false
    outbox.push(frame('x'))
  }
  bench.turn()
  for (const text of ['1234', '5678']) long.outbox.push(frame(text))
  short.outbox.push(frame('abc'))
  assert.match(String(long.sink.given), /all sessions together/)
  assert.equal(short.sink.given, null)
  assert.equal(bench.turns.waitingBytes, 3)
  short.sink.takes = true
  short.outbox.drained()
  assert.equal(short.sink.text, 'xabc')
})

test('messages become frames as they are written, in order with frames of every other kind', () => {
  const bench = new Bench()
  const { outbox, sink } = bench.reader()
  const messages = ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(60_000)]
  for (const message of messages) outbox.text(message)
  outbox.push(textFrame(Buffer.from('é')))
  outbox.text('z')
  bench.turn()
  const expected = [...messages, 'é', 'z'].map(message => Buffer.from(textFrame(Buffer.from(message))))
  assert.ok(Buffer.concat(sink.pieces).equals(Buffer.concat(expected)))
})

test('a message longer than a write goes out in pieces, as the reader takes them', () => {
  const bench = new Bench()
  const { outbox, sink } = bench.reader()
  sink.takes = false
  const message = 'x'.repeat(200_000)
  outbox.text(message)
  bench.turn()
  assert.equal(sink.pieces.length, 1)
  assert.ok((sink.pieces[0]?.byteLength ?? 0) <= 64 * 1024)
  sink.takes = true
  outbox.drained()
  const wire = Buffer.concat(sink.pieces)
  let payload = ''
  for (let at = 0; at < wire.length; ) {
    const isFirst = at === 0
    const length = wire.readUInt8(at + 1) === 126 ? wire.readUInt16BE(at + 2) : wire.readUInt8(at + 1)
    const from = at + (length < 126 ? 2 : 4)
    const isLast = from + length === wire.length
    assert.equal(wire.readUInt8(at), (isFirst ? 0x01 : 0x00) | (isLast ? 0x80 : 0))
    payload += wire.toString('latin1', from, from + length)
    at = from + length
  }
  assert.equal(payload, message)
})

test('a reader is behind once a whole write waits for it, and is told when that is over', () => {
  const bench = new Bench()
  const { outbox, sink } = bench.reader()
  sink.takes = false
  outbox.text('first')
  bench.turn()
  assert.equal(outbox.isBehind, false)
  for (let count = 0; count < 70; count += 1) outbox.text('x'.repeat(1_000))
  assert.equal(outbox.isBehind, true)
  outbox.drained()
  assert.equal(outbox.isBehind, false)
  assert.equal(sink.reliefs, 1)
  sink.takes = true
  outbox.drained()
  assert.equal(sink.reliefs, 1)
})
