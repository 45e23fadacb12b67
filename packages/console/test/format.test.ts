import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted, durationText, lagText, localTime, microsecondsOf, partsOf, shown, tookText, wholeMicroseconds } from '../src/format.ts'

test('null is shown as unknown, or as what it means, and never as zero or nothing', () => {
  for (const value of [null, undefined]) assert.equal(shown(value), 'unknown')
  assert.equal(shown(null, 'none'), 'none')
  assert.equal(shown(0), '0')
  assert.equal(shown(''), '(empty)')
  assert.equal(shown(false), 'false')
  for (const count of [null, undefined]) assert.equal(counted(count), 'unknown')
  assert.equal(counted(0), '0')
  assert.equal(counted(1_234_567), '1,234,567')
})

test('what an endpoint is behind by is said with its bound, and none is not zero of at least', () => {
  const text = (updates: number, users: number, is_lower_bound = false) => lagText({ updates, users, is_lower_bound, oldest_at: null })
  assert.deepEqual([text(0, 0), text(1, 1), text(1_200, 30)], ['none', '1 update of 1 user', '1,200 updates of 30 users'])
  assert.deepEqual([text(0, 0, true), text(10_000, 9, true)], ['at least 0 updates of 0 users', 'at least 10,000 updates of 9 users'])
})

test('a line may end within an id or a long name, and nothing is lost', () => {
  const uuid = '01a2239f-077c-7000-9ba7-22d029c70b3d'
  assert.deepEqual(partsOf(uuid), ['01a2239f-077c-', '7000-9ba7-', '22d029c70b3d'])
  assert.deepEqual(partsOf(`platform:${uuid}`), ['platform:', '01a2239f-077c-', '7000-9ba7-', '22d029c70b3d'])
  for (const text of ['AAPL', 'order-3-1795893960691', '', '2001:db8::1', 'operator root@vm'])
    assert.deepEqual(partsOf(text).join(''), text)
  for (const text of [`msg_${'a'.repeat(43)}`, 'w'.repeat(60), 'henrietta-worthington-the-elder-985', '🦜'.repeat(30)]) {
    assert.equal(partsOf(text).join(''), text)
    assert.ok(
      partsOf(text).every(part => part.length <= 40 && !part.endsWith('\ud83e')),
      text
    )
    assert.ok(partsOf(text).length > 1)
  }
})

test('decimals keep every digit', () => {
  for (const amount of ['0.100', '1.10', '12345678901234567890.123456789', '0', '-0.000000001', '1e3', '007'])
    assert.equal(shown(amount), amount)
})

test('records inside records are shown whole', () => {
  assert.equal(shown({ price: '1.10', quantity: null }), '{"price":"1.10","quantity":null}')
  assert.equal(shown(['a', 1]), '["a",1]')
})

test('timestamps are exact to the microsecond, in any zone, and text that is none is not guessed at', () => {
  assert.equal(microsecondsOf('1970-01-01T00:00:00Z'), 0n)
  assert.equal(microsecondsOf('1970-01-01T00:00:00.5Z'), 500_000n)
  assert.equal(microsecondsOf('1970-01-01T00:00:01.000001Z'), 1_000_001n)
  assert.equal(microsecondsOf('1970-01-01T00:00:00.123456789Z'), 123_456n)
  assert.equal(microsecondsOf('1970-01-01T01:00:00+01:00'), 0n)
  assert.equal(microsecondsOf('1969-12-31T23:59:59.999Z'), -1_000n)
  for (const text of ['', 'yesterday', '2026-11-27', '2026-11-27T10:00:00', '2026-13-40T10:00:00Z', '1700000000'])
    assert.equal(microsecondsOf(text), null, text)
})

test('times are in the zone that was asked for, with the fraction cut and not rounded up', () => {
  assert.equal(localTime('2026-11-27T14:03:21.999Z', 'UTC'), '2026-11-27 14:03:21')
  assert.equal(localTime('2026-11-27T02:03:21Z', 'America/New_York'), '2026-11-26 21:03:21')
  assert.equal(localTime('2026-11-27T00:00:00Z', 'UTC'), '2026-11-27 00:00:00')
  assert.equal(localTime('1969-12-31T23:59:59.9995Z', 'UTC'), '1969-12-31 23:59:59')
  assert.equal(localTime('soon', 'UTC'), 'soon')
})

test('a time that occurs twice when clocks go back has its offset, and no other time has', () => {
  const times = (zone: string, ...at: readonly string[]) => at.map(each => localTime(each, zone))
  const newYork = ['2026-11-01T04:59:59Z', '2026-11-01T05:00:00Z', '2026-11-01T06:59:59.9Z', '2026-11-01T07:00:00Z']
  assert.deepEqual(times('America/New_York', ...newYork), [
    ...['2026-11-01 00:59:59', '2026-11-01 01:00:00 -04:00', '2026-11-01 01:59:59 -05:00', '2026-11-01 02:00:00']
  ])
  assert.deepEqual(times('America/New_York', '2026-03-08T06:59:59Z', '2026-03-08T07:00:00Z'), [
    '2026-03-08 01:59:59',
    '2026-03-08 03:00:00'
  ])
  const lordHowe = ['2026-04-04T14:29:59Z', '2026-04-04T14:30:00Z', '2026-04-04T15:29:59Z', '2026-04-04T15:30:00Z']
  assert.deepEqual(times('Australia/Lord_Howe', ...lordHowe), [
    ...['2026-04-05 01:29:59', '2026-04-05 01:30:00 +11:00', '2026-04-05 01:59:59 +10:30', '2026-04-05 02:00:00']
  ])
})

test('durations have a unit, and negative ones their sign', () => {
  const texts = [0n, 350n, 1_000n, 1_204_567n, 60_000_000n, 90_000_000n, 3_600_000_000n, 129_600_000_000n, -2_000n].map(durationText)
  assert.deepEqual(texts, ['0 µs', '350 µs', '1 ms', '1.204 s', '1 min', '1.5 min', '1 h', '1.5 d', '-2 ms'])
})

test('measured durations are cut to the microsecond, and what is no number is unknown', () => {
  assert.deepEqual([92.2123360000005, 0.0004, 12, 1500].map(tookText), ['92.212 ms', '0 µs', '12 ms', '1.5 s'])
  for (let microseconds = 0; microseconds < 200_000; microseconds += 10) {
    const text = `${Math.floor(microseconds / 1000)}.${String(microseconds % 1000).padStart(3, '0')}`
    assert.equal(wholeMicroseconds(Number(text)), BigInt(microseconds), text)
  }
  assert.equal(wholeMicroseconds(-2.01), -2_010n)
  for (const took of [Number.NaN, Number.POSITIVE_INFINITY]) assert.equal(tookText(took), 'unknown')
})
