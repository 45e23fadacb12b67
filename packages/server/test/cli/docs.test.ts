// Generated pages say what the code says.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import { brokerRows, knownBrokers } from '../../src/cli/known-brokers.ts'
import { brokerPages } from '../../src/cli/pages/brokers.ts'
import { GENERATED } from '../../src/cli/pages/markdown.ts'
import { settingsPage } from '../../src/cli/pages/settings.ts'
import { SANDBOX_ROWS, SET_BY_SERVICE } from '../../src/config/sandbox-settings.ts'
import { ALL_SETTINGS, SECRET_SETTINGS } from '../../src/config/settings.ts'
import { directory } from '../admin/support.ts'
import { cli } from './terminal.ts'

test('the settings page has every setting once, with its default, and marks the secret ones', () => {
  const lines = settingsPage(ALL_SETTINGS, SANDBOX_ROWS, SET_BY_SERVICE)
    .split('\n')
    .filter(line => line.startsWith('| `'))
  assert.equal(lines.length, Object.keys(ALL_SETTINGS).length + SANDBOX_ROWS.length)
  for (const name of ['SANDBOX_SEED', 'SANDBOX_CALENDAR', 'SANDBOX_MARKET'])
    assert.ok(lines.some(line => line.startsWith(`| \`${name}\` |`)))
  assert.match(lines.find(line => line.includes('`SANDBOX_CLIENT_ID`')) ?? '', /\*By the service\.\*/)
  for (const { env, fallback, about } of Object.values(ALL_SETTINGS)) {
    const [line] = lines.filter(row => row.startsWith(`| \`${env}\` |`))
    assert.ok(line?.includes(about) && (fallback === '' || line.includes(`\`${fallback}\``)), env)
    assert.equal(line?.includes('*Secret.*'), SECRET_SETTINGS.includes(env), env)
  }
})

test('the matrix links to a page for every broker, and each page has every instrument', () => {
  const brokers = knownBrokers()
  const pages = new Map(brokerPages(brokers, brokerRows()))
  assert.equal(pages.size, brokers.length + 1)
  for (const { id, name, instruments } of brokers) {
    const path = `${id.toLowerCase()}.md`
    assert.ok(pages.get('brokers/README.md')?.includes(`[${name}](${path})`))
    for (const instrument of instruments) assert.match(pages.get(`brokers/${path}`) ?? '', new RegExp(`\`${instrument}\``))
  }
})

test('a broker with few capabilities is described correctly', () => {
  const poor: BrokerCapabilities = {
    id: parseBrokerId('POOR'),
    name: 'Poor | Co',
    logoColor: '#000000',
    logoInitials: 'X',
    login: 'api_key',
    instruments: ['OPT'],
    orderTypes: { OPT: ['LMT'] },
    timesInForce: {},
    sides: { OPT: ['SELL_TO_CLOSE', 'BUY_TO_OPEN'] },
    exclusions: [],
    onlyInSession: [],
    extendedHours: 'with_regular',
    sessions: [],
    marketData: {
      channels: [],
      historyIntervals: [],
      historyDays: {},
      dailyBars: 'all_hours',
      dailySessions: [],
      liveIntervals: [],
      liveVolume: 'all',
      symbolSearch: false,
      backfillMax: 0,
      historyLagMs: 0,
      everyTrade: true,
      streamNumbered: false,
      connections: 'one'
    },
    notional: false,
    fractional: false,
    replace: 'none',
    replaceFields: {},
    replacedOrderId: 'new',
    replacedQuantity: 'total',
    accountStream: false,
    accountStreamNumbered: false,
    executions: false,
    rejectReasons: true,
    tokens: 'refreshed',
    revocation: 'none',
    transactions: false,
    orderPreview: false,
    deduplication: 'none',
    brokerClOrdId: { lengthMax: 36, alphabet: 'uuid' }
  }
  const [[, matrix], [, page]] = brokerPages([poor], new Map()) as [readonly [string, string], readonly [string, string]]
  assert.ok(matrix.includes('| [Poor \\| Co](poor.md) | `POOR` | API key | options | `LMT` | none | no | no | no | no | no | no | none |'))
  assert.ok(page.includes('| `OPT` options | `LMT` | none | `BUY_TO_OPEN` `SELL_TO_CLOSE` |'))
  assert.match(page, /## Market data\n\nNone\./)
})

test('writing the pages replaces old ones, removes those of brokers that no longer exist, and touches nothing else', async context => {
  const folder = directory(context)
  mkdirSync(join(folder, 'brokers'))
  writeFileSync(join(folder, 'brokers', 'gone.md'), `${GENERATED}\n# Gone\n`)
  writeFileSync(join(folder, 'brokers', 'notes.md'), '# Mine\n')
  writeFileSync(join(folder, 'settings.md'), 'old')
  const { code } = await cli({}, 'docs', '--out', folder)
  assert.equal(code, 0)
  assert.equal(existsSync(join(folder, 'brokers', 'gone.md')), false)
  assert.ok(readdirSync(join(folder, 'brokers')).includes('notes.md'))
  assert.equal(readFileSync(join(folder, 'settings.md'), 'utf8'), settingsPage(ALL_SETTINGS, SANDBOX_ROWS, SET_BY_SERVICE))
})
