// What counts as practice: only there is a demo platform made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNotPractice } from '../../src/config/practice.ts'
import { settingsOf } from '../../src/config/settings.ts'

const ALPACA = { TRUNKLINE_ALPACA_CLIENT_ID: 'id', TRUNKLINE_ALPACA_CLIENT_SECRET: 'secret' }
const why = (env: Readonly<Record<string, string>>) => whyNotPractice(settingsOf(env))

test('on this machine, with the sandbox brokerage and no real money, it is practice', () => {
  for (const env of [
    {},
    { TRUNKLINE_HOST: '::1' },
    { TRUNKLINE_PUBLIC_URL: 'http://localhost:9000' },
    { TRUNKLINE_SANDBOX_URL: 'http://127.0.0.1:9', TRUNKLINE_SANDBOX_CLIENT_SECRET: 'x'.repeat(20) },
    { TRUNKLINE_DATABASE_URL: 'postgres://me@127.0.0.1:5433/x' },
    { TRUNKLINE_DATABASE_URL: 'postgres://me@localhost/x' },
    { TRUNKLINE_DATABASE_URL: 'postgresql:///x?host=/run/postgresql' },
    { ...ALPACA, TRUNKLINE_ALPACA_ENV: 'paper' }
  ])
    assert.equal(why(env), null, JSON.stringify(env))
})

test('another address, a database elsewhere, real money, or no sandbox brokerage make it more than that', () => {
  for (const url of ['postgres://me@db.example.com/x', 'postgresql:///x?host=192.0.2.9', 'postgres://me@localhost.example.com/x'])
    assert.match(String(why({ TRUNKLINE_DATABASE_URL: url })), /TRUNKLINE_DATABASE_URL names a database on another machine/)
  assert.match(String(why({ TRUNKLINE_PUBLIC_URL: 'https://api.example.com' })), /TRUNKLINE_PUBLIC_URL names more/)
  assert.match(String(why({ TRUNKLINE_PUBLIC_URL: 'http://127.0.0.1.example.com' })), /TRUNKLINE_PUBLIC_URL/)
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.example.com'])
    assert.match(String(why({ TRUNKLINE_HOST: host })), /TRUNKLINE_HOST/)
  assert.match(String(why({ ...ALPACA, TRUNKLINE_ALPACA_ENV: 'live' })), /live accounts at ALPACA/)
  assert.match(String(why({ ...ALPACA, TRUNKLINE_ALPACA_ENV: 'paper', TRUNKLINE_BROKERS: 'ALPACA' })), /nothing in the sandbox/)
})
