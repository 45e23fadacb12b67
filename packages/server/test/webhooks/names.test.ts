import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { HostsFile } from '../../src/webhooks/hosts-file.ts'
import { Names, newResolver, RESOLUTIONS_MAX } from '../../src/webhooks/names.ts'

const A = 1
const RECORDS: Readonly<Record<string, { readonly v4?: string; readonly v6?: string }>> = {
  both: { v4: 'c0000201', v6: '20010db8000000000000000000000001' },
  six: { v6: '20010db8000000000000000000000002' }
}

/** A name server that knows a few names, and never answers one that begins with `silent`. What it was asked, as "name type". */
async function nameServer(t: TestContext) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const length = query[12] ?? 0
    const label = query.subarray(13, 13 + length).toString()
    const end = query.indexOf(0, 12) + 5
    const type = query.readUInt16BE(end - 4)
    asked.push(`${label} ${type === A ? 'A' : 'AAAA'}`)
    if (label.startsWith('silent')) return
    const known = RECORDS[label]
    const record = Buffer.from((type === A ? known?.v4 : known?.v6) ?? '', 'hex')
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2)
    for (const [at, count] of [record.length > 0 ? 1 : 0, 0, 0].entries()) header.writeUInt16BE(count, 6 + 2 * at)
    const answer = record.length > 0 ? [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, record.length]), record] : []
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answer]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const resolver = () => {
    const made = newResolver()
    made.setServers([`127.0.0.1:${socket.address().port}`])
    return made
  }
  return { asked, resolver }
}

async function namesOf(t: TestContext, { hosts = '', isV4 = true } = {}) {
  const clock = new VirtualClock()
  const file = { text: hosts, reads: 0 }
  const read = async () => {
    file.reads += 1
    return file.text
  }
  const { asked, resolver } = await nameServer(t)
  const names = new Names({ clock, hosts: new HostsFile({ clock, read }), resolver, hasIpv4: () => isV4 })
  const found = async (name: string) => (await names.resolve(name)).map(({ address }) => address)
  return { clock, file, names, asked, found }
}

test('a name has the addresses of both families, first those that the machine reaches', async t => {
  const { found } = await namesOf(t)
  assert.deepEqual(await found('both.example'), ['192.0.2.1', '2001:db8::1'])
  assert.deepEqual(await found('six.example'), ['2001:db8::2'])
  const other = await namesOf(t, { isV4: false })
  assert.deepEqual(await other.found('both.example'), ['2001:db8::1', '192.0.2.1'])
  await assert.rejects(found('unknown.example'), { code: 'ENOTFOUND' })
})

test('the hosts file is asked first, and read again after ten seconds', async t => {
  const { clock, file, asked, found } = await namesOf(t, {
    hosts: '# names\n10.0.0.7 Both.example other # both.test\nfe80::1%eth0 x\n::7 other\n'
  })
  assert.deepEqual([await found('both.example'), await found('other')], [['10.0.0.7'], ['10.0.0.7', '::7']])
  assert.deepEqual(
    [await found('localhost'), await found('a.localhost')],
    [
      ['127.0.0.1', '::1'],
      ['127.0.0.1', '::1']
    ]
  )
  assert.deepEqual([asked, file.reads], [[], 1])
  file.text = ''
  await clock.advance(10_000)
  assert.deepEqual([await found('both.example'), file.reads], [['192.0.2.1', '2001:db8::1'], 2])
})

test('a name is asked for once at a time, and cancelled at the end of the attempt; others are resolved meanwhile', async t => {
  const { clock, names, asked, found } = await namesOf(t)
  const silent = [found('silent.example'), found('silent.example')]
  const ended = Promise.allSettled(silent)
  await until(() => asked.length >= 2, 'both queries have arrived')
  assert.deepEqual([asked.toSorted(), names.resolving], [['silent A', 'silent AAAA'], 1])
  assert.deepEqual(await found('both.example'), ['192.0.2.1', '2001:db8::1'])
  await clock.advance(5_000)
  assert.deepEqual(
    (await ended).map(({ status }) => status),
    ['rejected', 'rejected']
  )
  assert.equal(names.resolving, 0)
})

test('beyond the bound a name is not asked for', async t => {
  const { clock, names, found } = await namesOf(t)
  const silent = Promise.allSettled(Array.from({ length: RESOLUTIONS_MAX }, (_, at) => found(`silent${at}.example`)))
  await assert.rejects(found('both.example'), /256 names/)
  // The alarms are set once the hosts file was read.
  await clock.settled()
  await clock.advance(5_000)
  await silent
  assert.equal(names.resolving, 0)
  assert.deepEqual(await found('both.example'), ['192.0.2.1', '2001:db8::1'])
})
