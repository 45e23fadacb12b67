import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FlushScheduler } from '../../src/stream/flush-scheduler.ts'
import { textFrame } from '../../src/stream/frame.ts'
import { SendBuffer, type Sink } from '../../src/stream/send-buffer.ts'
import { SEND_BUFFER_LIMITS, type SendBufferLimits } from '../../src/stream/send-buffer-limits.ts'

/** A reader that takes as much as it is set to, and a scheduler that is run by hand. */
class Bench {
  now = 0
  readonly scheduler: FlushScheduler
  #due: (() => void)[] = []

  constructor(limits: Partial<SendBufferLimits> = {}) {
    this.limits = { ...SEND_BUFFER_LIMITS, ...limits }
    this.scheduler = new FlushScheduler(
      this.limits,
      () => this.now,
      work => this.#due.push(work)
    )
  }

  readonly limits: SendBufferLimits

  reader(): { readonly buffer: SendBuffer; readonly sink: Reader } {
    const sink = new Reader()
    return { buffer: new SendBuffer(sink, this.scheduler, this.limits), sink }
  }

  runScheduled(): void {
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

  caughtUp(): void {
    this.reliefs += 1
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString()
  }
}

const frame = (text: string): Uint8Array => Buffer.from(text)

test('what comes in one turn is written at its end, in one piece and in order', () => {
  const bench = new Bench()
  const { buffer, sink } = bench.reader()
  for (const text of ['a', 'b', 'c']) buffer.push(frame(text))
  assert.equal(sink.pieces.length, 0)
  bench.runScheduled()
  assert.deepEqual(sink.pieces.map(String), [String(frame('abc'))])
})

test('readers of the same frames share one buffer', () => {
  const bench = new Bench()
  const [one, two, other] = [bench.reader(), bench.reader(), bench.reader()]
  const frames = ['a', 'b'].map(frame)
  for (const { buffer } of [one, two]) for (const each of frames) buffer.push(each)
  for (const each of ['a', 'c'].map(frame)) other.buffer.push(each)
  bench.runScheduled()
  assert.equal(one.sink.pieces[0], two.sink.pieces[0])
  assert.equal(other.sink.text, 'ac')
})

test('while a reader takes nothing its frames wait, and come out in order afterwards', async () => {
  const bench = new Bench()
  const { buffer, sink } = bench.reader()
  sink.takes = false
  buffer.push(frame('a'))
  bench.runScheduled()
  for (const text of ['b', 'c']) buffer.push(frame(text))
  bench.runScheduled()
  assert.equal(sink.text, 'a')
  assert.equal(bench.scheduler.waitingBytes, 2)
  let isIdle = false
  const idle = buffer.idle().then(() => {
    isIdle = true
  })
  sink.takes = true
  buffer.drained()
  await idle
  assert.ok(isIdle)
  assert.equal(sink.text, 'abc')
  assert.equal(bench.scheduler.waitingBytes, 0)
})

test('a buffer over its bound is dropped as a whole, never conflated', () => {
  for (const limits of [{ messagesMax: 3 }, { bytesMax: 3 }]) {
    const bench = new Bench(limits)
    const { buffer, sink } = bench.reader()
    sink.takes = false
    buffer.push(frame('a'))
    bench.runScheduled()
    for (const text of ['b', 'c', 'd']) buffer.push(frame(text))
    assert.equal(sink.given, null)
    buffer.push(frame('e'))
    assert.match(String(sink.given), /waited for it/)
    sink.takes = true
    buffer.drained()
    bench.runScheduled()
    assert.equal(sink.text, 'a')
    assert.equal(bench.scheduler.waitingBytes, 0)
  }
})

test('a burst larger than the queue in one turn is no slow reader when its socket takes it', () => {
  const bench = new Bench({ messagesMax: 10 })
  const { buffer, sink } = bench.reader()
  const texts = Array.from({ length: 100 }, (_, index) => String(index % 10))
  for (const text of texts) buffer.push(frame(text))
  bench.runScheduled()
  assert.equal(sink.given, null)
  assert.equal(sink.text, texts.join(''))
})

test('a reader that takes nothing for too long is given up', () => {
  const bench = new Bench({ stalledMs: 1_000 })
  const { buffer, sink } = bench.reader()
  sink.takes = false
  buffer.push(frame('a'))
  bench.runScheduled()
  bench.now = 999
  bench.scheduler.sweep()
  assert.equal(sink.given, null)
  bench.now = 1_000
  bench.scheduler.sweep()
  assert.match(String(sink.given), /took nothing for 1 second/)
})

test('above the bound of the process the longest queue goes, and the others keep all', () => {
  const bench = new Bench({ allBytesMax: 10 })
  const [long, short] = [bench.reader(), bench.reader()]
  for (const { buffer, sink } of [long, short]) {
    sink.takes = false
    buffer.push(frame('x'))
  }
  bench.runScheduled()
  for (const text of ['1234', '5678']) long.buffer.push(frame(text))
  short.buffer.push(frame('abc'))
  assert.match(String(long.sink.given), /all sessions together/)
  assert.equal(short.sink.given, null)
  assert.equal(bench.scheduler.waitingBytes, 3)
  short.sink.takes = true
  short.buffer.drained()
  assert.equal(short.sink.text, 'xabc')
})

test('messages become frames as they are written, in order with frames of every other kind', () => {
  const bench = new Bench()
  const { buffer, sink } = bench.reader()
  const messages = ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(60_000)]
  for (const message of messages) buffer.text(message)
  buffer.push(textFrame(Buffer.from('é')))
  buffer.text('z')
  bench.runScheduled()
  const expected = [...messages, 'é', 'z'].map(message => Buffer.from(textFrame(Buffer.from(message))))
  assert.ok(Buffer.concat(sink.pieces).equals(Buffer.concat(expected)))
})

test('a message longer than a write goes out in pieces, as the reader takes them', () => {
  const bench = new Bench()
  const { buffer, sink } = bench.reader()
  sink.takes = false
  const message = 'x'.repeat(200_000)
  buffer.text(message)
  bench.runScheduled()
  assert.equal(sink.pieces.length, 1)
  assert.ok((sink.pieces[0]?.byteLength ?? 0) <= 64 * 1024)
  sink.takes = true
  buffer.drained()
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

test('a reader is behind once a whole write waits for it, and is notified when that is over', () => {
  const bench = new Bench()
  const { buffer, sink } = bench.reader()
  sink.takes = false
  buffer.text('first')
  bench.runScheduled()
  assert.equal(buffer.isBehind, false)
  for (let count = 0; count < 70; count += 1) buffer.text('x'.repeat(1_000))
  assert.equal(buffer.isBehind, true)
  buffer.drained()
  assert.equal(buffer.isBehind, false)
  assert.equal(sink.reliefs, 1)
  sink.takes = true
  buffer.drained()
  assert.equal(sink.reliefs, 1)
})
