// A start that cannot be: the program says what failed, where, and which setting changes it, in a message and not in a stack.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'

const MAIN = resolve(import.meta.dirname, '..', '..', 'src', 'main.ts')
const INHERITED = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
const PATIENCE_MS = 240_000
/** As at a terminal: the log is then a file in the data directory. */
const AT_TERMINAL = {
  NODE_OPTIONS: "--import=data:text/javascript,if(process.argv[1]?.endsWith('server/src/main.ts'))process.stdout.isTTY=true"
}

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-start-'))
})
after(() => rmSync(folder, { recursive: true }))

/** Starts the service and waits for its end. Gives what it printed. */
async function failStart(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = []
): Promise<{ code: number | null; err: string; out: string }> {
  const settings = { TRUNKLINE_PORT: '0', TRUNKLINE_DATA_DIR: join(folder, 'data'), TRUNKLINE_LOG_FILE: join(folder, 'log'), ...env }
  return new Promise(ended => {
    const done = (error: Error | null, out: string, err: string) => {
      assert.ok(!/^\s+at /m.test(err), `a stack: ${err}`)
      ended({ code: error === null ? 0 : Number(Reflect.get(error, 'code')), err, out })
    }
    execFile(process.execPath, [MAIN, ...args], { env: { ...INHERITED, ...settings }, timeout: PATIENCE_MS }, done)
  })
}

test('a port that is taken is named, with the setting to change', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { code, err } = await failStart({
    TRUNKLINE_PORT: String(address.port),
    TRUNKLINE_PROT: '1',
    SANDBOX_SEDE: 'x',
    SANDBOX_OF_ANOTHER_PROGRAM: 'x'
  })
  holder.close()
  assert.equal(code, 1)
  assert.match(
    err,
    new RegExp(`trunkline did not start:\\n  TRUNKLINE_PORT  port ${address.port} of 127\\.0\\.0\\.1 is taken by another program; `)
  )
  assert.ok(!existsSync(join(folder, 'data')), 'nothing was made for a start that could not be')
  assert.match(err, /^warning: TRUNKLINE_PROT is no setting and has no effect; is TRUNKLINE_PORT meant\?$/m)
  assert.match(err, /^warning: SANDBOX_SEDE is no setting and has no effect; is SANDBOX_SEED meant\?$/m)
  assert.ok(!err.includes('ANOTHER_PROGRAM'))
})

test('a data directory that cannot be is named, also where the log would lie in it', async () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  for (const [dataDir, more] of [
    [file, {}],
    [join(file, 'below'), {}],
    [join(file, 'below'), { ...AT_TERMINAL, TRUNKLINE_LOG_FILE: '' }]
  ] as const) {
    const { code, err } = await failStart({ TRUNKLINE_DATA_DIR: dataDir, ...more })
    assert.equal(code, 1)
    assert.match(err, /^trunkline did not start:\n {2}TRUNKLINE_DATA_DIR {2}.*a-file is a file, not a folder\.$/m, err)
  }
})

test('what is wrong with settings is printed at once, with the messages of check-config, and a folder that cannot be created does not hang', async () => {
  const nowhere = existsSync('/proc/self') ? '/proc/trunkline' : '/dev/null/trunkline'
  const { code, err } = await failStart({ TRUNKLINE_PORT: 'x', SANDBOX_CALENDAR: 'lunar', TRUNKLINE_DATA_DIR: nowhere })
  assert.equal(code, 2)
  for (const line of [
    /^ {2}TRUNKLINE_PORT {6}must be a whole number/m,
    /^ {2}SANDBOX_CALENDAR {4}must be always or/m,
    /^ {2}TRUNKLINE_DATA_DIR {2}.* cannot be created/m
  ])
    assert.match(err, line)
})

test('where the log goes to standard output the reason is not said twice', async () => {
  const { out, err } = await failStart({
    ...{ TRUNKLINE_LOG_FILE: '', TRUNKLINE_DATABASE_URL: 'postgres://me@127.0.0.1:9/books', TRUNKLINE_DATABASE_WAIT_SECONDS: '0' }
  })
  assert.equal(`${out}${err}`.split('cannot be reached').length, 2, `${out}${err}`)
})

test('a database that is away is named by host and setting, and never its password', async () => {
  const { code, err } = await failStart({
    TRUNKLINE_DATABASE_URL: 'postgres://me:topsecret@127.0.0.1:9/books',
    TRUNKLINE_DATABASE_WAIT_SECONDS: '0'
  })
  assert.equal(code, 1)
  assert.match(err, /did not start: PostgreSQL at 127\.0\.0\.1:9\/books \(TRUNKLINE_DATABASE_URL\) cannot be reached: /)
  assert.ok(!err.includes('topsecret'))
})

test('--help says where settings come from, and what it does not know is not ignored', async () => {
  const help = await failStart({}, ['--help'])
  assert.equal(help.code, 0)
  assert.match(help.out, /^npm start\b[\s\S]*TRUNKLINE_PORT/)
  const odd = await failStart({}, ['--port', '9000'])
  assert.equal(odd.code, 2)
  assert.match(odd.err, /takes no arguments.*--port 9000[\s\S]*TRUNKLINE_PORT=9000 npm start/)
})

test('the service that npm started ends in good order when the shell between them dies of the signal', async t => {
  const { shell, out } = await endedWithShell('"msg":"ready"', t)
  assert.equal(shell.signalCode, 'SIGTERM')
  assert.match(out, /"msg":"stopping"[\s\S]*"msg":"stopped"/)
})

test('the service that npm started ends when that shell dies while it starts', async t => {
  const { shell, out } = await endedWithShell('"msg":', t)
  assert.equal(shell.signalCode, 'SIGTERM')
  assert.ok(!out.includes('"msg":"ready"') || out.includes('"msg":"stopped"'), out)
})

/**
 * Ends the shell above the service at the first `sign` in its log. Returns once the pipe, which is the service's too, has ended with it.
 */
async function endedWithShell(sign: string, t: TestContext): Promise<{ shell: ChildProcess; out: string }> {
  const env = {
    ...INHERITED,
    npm_lifecycle_event: 'start',
    TRUNKLINE_PORT: '0',
    TRUNKLINE_DATA_DIR: mkdtempSync(join(folder, 'orphan-')),
    TRUNKLINE_LOG_LEVEL: 'info'
  }
  const command = ['-c', `"${process.execPath}" "${MAIN}"; true`]
  const shell = spawn('sh', command, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  // A service that missed its shell's end would keep this file waiting for the pipe.
  const late = setTimeout(() => process.kill(-Number(shell.pid), 'SIGKILL'), PATIENCE_MS)
  t.after(() => clearTimeout(late))
  let out = ''
  for await (const text of shell.stdout.setEncoding('utf8')) {
    out += text
    if (shell.exitCode === null && shell.signalCode === null && out.includes(sign)) shell.kill('SIGTERM')
  }
  return { shell, out }
}
