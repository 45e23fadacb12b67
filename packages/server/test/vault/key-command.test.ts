// Master keys from a command, and where they may not lie.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { whyKeysApart } from '../../src/config/keys-apart.ts'
import { keysFromCommand } from '../../src/vault/key-command.ts'
import { freshKey, KeyFileRefused } from '../../src/vault/key-file.ts'
import { formatKeySet } from '../../src/vault/master-keys.ts'

/** A command that runs this program. */
function commandOf(context: TestContext, program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-key-command-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'keys.mjs')
  writeFileSync(file, program)
  return `${process.execPath} ${file}`
}

function refusal(command: string): string {
  try {
    keysFromCommand(command)
  } catch (cause) {
    assert.ok(cause instanceof KeyFileRefused)
    return `${cause.message} ${String(cause.cause ?? '')}`
  }
  return assert.fail('keys were taken')
}

test('a command prints the keys; its arguments are passed as they are, and no shell reads them', context => {
  const keys = { keys: [freshKey(), freshKey()] as const, instance: null }
  const echo = commandOf(context, 'process.stdout.write(Buffer.from(process.argv[2], "base64"))')
  const argument = Buffer.from(formatKeySet(keys)).toString('base64')
  assert.deepEqual(
    keysFromCommand(`${echo}  ${argument}`).keys.map(({ id }) => id),
    keys.keys.map(({ id }) => id)
  )
  const command = commandOf(context, 'process.exit(process.argv[2] === "$HOME;" && process.argv[3] === "`x`" ? 7 : 8)')
  assert.match(refusal(`${command} $HOME; \`x\``), /it ended with 7/)
})

test('what a command prints is never shown, however it fails', context => {
  const secret = 'canary-of-a-key'
  for (const [program, expected] of [
    [`process.stdout.write('${secret}')`, /master key 1 must be/],
    [`process.stdout.write('${secret}'.repeat(10_000))`, /more than 64 KiB/],
    [`console.error('${secret}'); process.exit(3)`, /ended with 3/],
    ['', /at least one master key/]
  ] as const) {
    const message = refusal(commandOf(context, program))
    assert.match(message, expected)
    assert.ok(!message.includes('canary'))
  }
  assert.match(refusal('no-such-program-anywhere'), /ENOENT/)
  assert.match(refusal(' '), /gave no keys/)
})

test('where others are served, or live accounts, keys do not lie beside the data unless that is allowed', () => {
  const sandbox = { masterKeys: null, masterKeysCommand: null, keysBesideData: false, publicUrl: null, offers: [] }
  assert.equal(whyKeysApart(sandbox), null)
  assert.equal(whyKeysApart({ ...sandbox, publicUrl: 'http://localhost:8080' }), null)
  const shared = { ...sandbox, publicUrl: 'https://api.example.com' }
  assert.match(String(whyKeysApart(shared)), /TRUNKLINE_PUBLIC_URL.*TRUNKLINE_MASTER_KEYS_COMMAND.*TRUNKLINE_ALLOW_KEYS_BESIDE_DATA=1/)
  const live = { ...sandbox, offers: [Object({ at: 'broker', id: 'ALPACA', environment: 'live' })] }
  assert.match(String(whyKeysApart(live)), /live accounts at ALPACA/)
  for (const more of [{ masterKeys: 'x' }, { masterKeysCommand: 'x' }, { keysBesideData: true }])
    for (const given of [shared, live]) assert.equal(whyKeysApart({ ...given, ...more }), null)
})
