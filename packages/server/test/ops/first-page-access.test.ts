// The code of the first page: good once, tried a few times only, and its sessions few and short.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FirstPageAccess } from '../../src/ops/first-page-access.ts'

const HOUR_MS = 3_600_000

function access() {
  let [now, made] = [0, 0]
  const codes: string[] = []
  const pages = new FirstPageAccess({ monotonicMs: () => now, newSecret: () => `secret-${++made}`, changed: code => void codes.push(code) })
  const enter = () => {
    now += 1_000
    const redeemed = pages.redeem(pages.code)
    assert.ok('session' in redeemed)
    return redeemed.session
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { pages, codes, enter, pass }
}

test('a code is good once, and the next one is announced', () => {
  const { pages, codes } = access()
  const code = pages.code
  const redeemed = pages.redeem(code)
  assert.ok('session' in redeemed && pages.admits(redeemed.session))
  assert.deepEqual(codes, [pages.code])
  assert.notEqual(pages.code, code)
  assert.deepEqual(pages.redeem(code), { refused: 'wrong' })
  for (const other of [undefined, '', code, pages.code, `${redeemed.session} `]) assert.equal(pages.admits(other), false)
})

test('after ten wrong tries even the right code waits, a second at a time', () => {
  const { pages, pass } = access()
  for (let tries = 0; tries < 10; tries++) assert.deepEqual(pages.redeem('wrong'), { refused: 'wrong' })
  assert.deepEqual(pages.redeem(pages.code), { refused: 'too_many', retryMs: 1_000 })
  pass(400)
  assert.deepEqual(pages.redeem(pages.code), { refused: 'too_many', retryMs: 600 })
  pass(600)
  assert.ok('session' in pages.redeem(pages.code))
})

test('a session ends two hours after it was used last, and after twelve hours however much it is used', () => {
  const { pages, enter, pass } = access()
  const [idle, used] = [enter(), enter()]
  for (let hours = 0; hours < 11; hours++) {
    pass(HOUR_MS)
    assert.ok(pages.admits(used))
  }
  assert.equal(pages.admits(idle), false)
  pass(HOUR_MS)
  assert.equal(pages.admits(used), false)
})

test('of more than eight the one that was idle longest goes', () => {
  const { pages, enter } = access()
  const sessions = Array.from({ length: 8 }, enter)
  assert.ok(pages.admits(sessions[0]))
  const ninth = enter()
  assert.deepEqual(
    [...sessions, ninth].map(session => pages.admits(session)),
    [true, false, ...Array.from({ length: 7 }, () => true)]
  )
})
