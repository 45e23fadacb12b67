// The messages for what prevents a start.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryWarning, whyNotMade } from '@trunkline/durable-pglite/making'
import { startFailure } from '../../src/ops/start-failure.ts'
import { StartLog } from '../../src/ops/start-log.ts'
import { starting, stopping } from '../../src/ops/terminal-lines.ts'

const MIB = 1024 ** 2
const listen = (code: string) => Object.assign(new Error(`listen ${code}`), { code, syscall: 'listen', address: '127.0.0.1', port: 80 })

test('what cannot be listened on is named with its setting', () => {
  assert.match(startFailure(listen('EADDRINUSE')), /^Port 80 of 127\.0\.0\.1 is taken.*TRUNKLINE_PORT/)
  assert.match(startFailure(listen('EACCES')), /ports below 1024.*TRUNKLINE_PORT/)
  assert.match(startFailure(listen('EADDRNOTAVAIL')), /the host must be an address of this machine/)
})

test('a full disk names the file, and no secret is shown', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', path: '/data/owner.lock' })
  assert.match(startFailure(full), /^\/data\/owner\.lock cannot be used: there is no space left on its disk.*TRUNKLINE_DATA_DIR/)
  assert.equal(startFailure(new Error('no', { cause: new Error('postgres://me:topsecret@host/x') })).includes('topsecret'), false)
})

test('too low a limit of open files is reported as that, however deep the cause is', () => {
  const short = Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE', path: '/data/x' })
  const engine = new Error('could not open file "base/5/1259": No file descriptors available')
  for (const cause of [short, new Error('The database cannot be reached or does not answer now.', { cause: short }), engine])
    assert.match(startFailure(cause), /^The limit of open files is too low \(ulimit -n\).*1024/)
})

test('too little memory for a first start is reported before, and when it was the reason', () => {
  assert.equal(memoryWarning(700 * MIB), null)
  assert.match(String(memoryWarning(512.4 * MIB)), /briefly needs 700 MiB of memory; 512 MiB are available/)
  const ended = (more: object) => Object.assign(new Error('Command failed: node create.ts {}\nlong words'), { stderr: '', ...more })
  assert.match(whyNotMade(ended({ signal: 'SIGKILL' })), /^there was not enough memory/)
  assert.match(whyNotMade(ended({ stderr: 'RangeError: Array buffer allocation failed' })), /^there was not enough memory/)
  assert.match(whyNotMade(ended({ stderr: '[cause]: ErrnoError { errno: 51 }' })), /^there is no space left on its disk/)
  assert.match(
    whyNotMade(ended({ stderr: `{\n  severity: 'ERROR',\n  code: '53000' }\nErrnoError { errno: 33 }` })),
    /limit of open files.*ulimit/
  )
  assert.equal(whyNotMade(ended({ stderr: `error: no such thing\n  severity: 'ERROR',` })), 'error: no such thing')
  assert.equal(whyNotMade(ended({ stderr: 'x\nFATAL:  something else\ny' })), 'FATAL:  something else')
  assert.equal(whyNotMade(ended({})), 'Command failed: node create.ts {}')
})

test('until it is ready a start prints its warnings, without secrets', () => {
  const [printed, logged]: [string[], string[]] = [[], []]
  const note = (message: string) => void logged.push(message)
  const log = new StartLog({ debug: note, info: note, warn: note, error: note }, text => void printed.push(text))
  log.info('nobody needs this')
  log.warn('waiting', { why: 'postgres://me:topsecret@host/x', cause: new Error('no line') })
  log.ready()
  log.warn('later')
  assert.deepEqual(logged, ['nobody needs this', 'waiting', 'later'])
  assert.equal(printed.length, 1)
  assert.match(printed[0] ?? '', /^warning: waiting \(why: .*, cause: no line\)\n$/)
  assert.ok(!printed[0]?.includes('topsecret'))
})

test('at a terminal a start and a stop say what takes its time', () => {
  assert.match(starting({ databaseUrl: null, dataDir: '/nowhere' }), /^Starting… The first start creates the database in \/nowhere, .*\n$/)
  assert.equal(starting({ databaseUrl: 'postgres://127.0.0.1/books', dataDir: '/nowhere' }), 'Starting…\n')
  assert.match(stopping({ shutdownSeconds: 25 }), /^\nStopping: waiting for requests and orders under way, 25 seconds at most\..*\n$/)
})
