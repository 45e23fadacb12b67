// The commands: the check of the installation, npm's failures, and the signals and exit codes of programs.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { cleanEnvironment, outputOf } from './program.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const RUN = join(ROOT, 'scripts', 'run.mjs')
const GRACEFUL = `process.on('SIGTERM', () => { console.log('stopping'); setTimeout(() => process.exit(7), 50) })
process.on('SIGINT', () => process.exit(8))
console.log('up ' + process.pid)
setInterval(() => {}, 1000)
`
let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-launch-'))
  writeFileSync(join(folder, 'graceful.ts'), GRACEFUL)
  writeFileSync(join(folder, 'echo.ts'), 'console.log(JSON.stringify([process.version, ...process.argv.slice(2)]))\nprocess.exitCode = 3\n')
})
after(() => rmSync(folder, { recursive: true }))

test('a program gets its arguments, runs on the pinned Node, and its exit code is the command’s', async () => {
  const { code, stdout, stderr } = await outputOf(process.execPath, [RUN, join(folder, 'echo.ts'), 'a b', '--flag'])
  assert.deepEqual(JSON.parse(stdout), [process.version, 'a b', '--flag'])
  assert.equal(stderr, '')
  assert.equal(code, 3)
})

test('a missing file is named', async () => {
  const { code, stderr } = await outputOf(process.execPath, [RUN, 'nowhere.ts'])
  assert.equal(code, 2)
  assert.match(stderr, /nowhere\.ts/)
})

// As on a Node that cannot replace itself: `replaceBy` then stays as the parent.
const GO_BETWEEN = `process.execve = undefined
const { replaceBy } = await import(${JSON.stringify(join(ROOT, 'scripts', 'lib', 'launch.mjs'))})
replaceBy(process.execPath, process.argv.slice(1))`

const WAYS: readonly (readonly [string, (file: string) => readonly string[]])[] = [
  ['in place of the command', file => [RUN, file]],
  ['below the command', file => ['--input-type=module', '-e', GO_BETWEEN, file]]
]

for (const [way, argumentsFor] of WAYS) {
  test(`SIGTERM and SIGINT reach a program that runs ${way}, and the command waits for its graceful end`, async () => {
    for (const [signal, expected] of [
      ['SIGTERM', 7],
      ['SIGINT', 8]
    ] as const) {
      const child = start(argumentsFor(join(folder, 'graceful.ts')))
      await line(child, /^up \d+$/m)
      child.kill(signal)
      const [code] = await once(child, 'exit')
      assert.equal(code, expected, signal)
    }
  })

  test(`a program that runs ${way} and dies of a signal makes the command fail`, async () => {
    const child = start(argumentsFor(join(folder, 'graceful.ts')))
    const [pid = ''] = /\d+/.exec(await line(child, /^up \d+$/m)) ?? []
    process.kill(Number(pid), 'SIGKILL')
    const [code, signal] = await once(child, 'exit')
    assert.ok(code === 137 || signal === 'SIGKILL', `${code} ${signal}`)
  })
}

test('a checkout is installed if every locked package that this platform needs is there', async () => {
  const lock = {
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['no-such-system'], cpu: ['x64'] },
    'node_modules/here': { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
    'packages/own': { version: '0.1.0' }
  }
  const { elsewhere: _, ...present } = { a: lock['node_modules/a'], elsewhere: null, here: lock['node_modules/here'] }
  const installed = Object.fromEntries(Object.entries(present).map(([name, entry]) => [`node_modules/${name}`, entry]))
  assert.equal(await isInstalled(lock, installed), true)
  assert.equal(await isInstalled(lock, { ...installed, 'node_modules/a': { version: '1.0.1', integrity: 'x' } }), false)
  assert.equal(await isInstalled(lock, { 'node_modules/a': lock['node_modules/a'] }), false)
  assert.equal(await isInstalled(lock, null), false)
})

test('without a lock file the command says what is missing', async () => {
  const empty = checkout()
  const { code, stderr } = await outputOf(process.execPath, [join(empty, 'scripts', 'run.mjs'), 'scripts/run.mjs'])
  assert.equal(code, 1)
  assert.match(stderr, /package-lock\.json is missing/)
})

test('when npm fails, only its reason and the advice are shown', async () => {
  const stale = checkout()
  writeFileSync(join(stale, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', dependencies: { 'not-in-the-lock': '1.0.0' } }))
  writeFileSync(
    join(stale, 'package-lock.json'),
    JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, packages: { '': { name: 'x', version: '1.0.0' } } })
  )
  const npm = join(stale, 'npm-cli.js')
  writeFileSync(
    npm,
    "console.error('npm error code EUSAGE\\nnpm error\\nnpm error Missing: left@1 from lock file\\nnpm error\\nnpm error Clean install a project\\nnpm error Usage:'); process.exit(1)"
  )
  const { code, stderr } = await outputOf(process.execPath, [join(stale, 'scripts', 'run.mjs'), 'scripts/run.mjs'], {
    env: cleanEnvironment({ npm_execpath: npm })
  })
  assert.equal(code, 1)
  assert.match(stderr, /could not be installed[\s\S]*Missing: left@1 from lock file[\s\S]*Run `npm install`/)
  assert.doesNotMatch(stderr, /Usage|at .*install\.mjs/)
})

test('a lock with unreviewed entries is refused before npm starts [S83]', async () => {
  const odd = checkout()
  writeFileSync(join(odd, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0' }))
  const packages = {
    'node_modules/left': { version: '1.0.0', resolved: 'https://downloads.example.com/left.tgz', integrity: `sha512-${'a'.repeat(86)}==` }
  }
  writeFileSync(join(odd, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
  const npm = join(odd, 'npm-cli.js')
  writeFileSync(npm, "require('fs').writeFileSync('npm-ran', '')")
  const args = [join(odd, 'scripts', 'run.mjs'), 'scripts/run.mjs']
  const { code, stderr } = await outputOf(process.execPath, args, { env: cleanEnvironment({ npm_execpath: npm }) })
  assert.equal(code, 1)
  assert.match(stderr, /nothing was installed\.\n {2}node_modules\/left is fetched from https:\/\/downloads\.example\.com/)
  assert.throws(() => statSync(join(odd, 'npm-ran')), { code: 'ENOENT' })
})

function checkout(): string {
  const root = mkdtempSync(join(folder, 'checkout-'))
  mkdirSync(join(root, 'scripts', 'lib'), { recursive: true })
  for (const file of ['run.mjs', 'lib/launch.mjs', 'lib/install.mjs', 'lib/installed.mjs', 'lib/lockfile.mjs']) {
    copyFileSync(join(ROOT, 'scripts', file), join(root, 'scripts', file))
  }
  return root
}

async function isInstalled(lock: object, installed: object | null): Promise<boolean> {
  const root = checkout()
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: lock }))
  const { pinnedNode } = await import(join(ROOT, 'scripts', 'lib', 'installed.mjs'))
  const node = String(pinnedNode(root))
  mkdirSync(dirname(node), { recursive: true })
  writeFileSync(node, '')
  chmodSync(node, 0o755)
  if (installed !== null) writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }))
  const script = `import { isInstalled } from ${JSON.stringify(join(root, 'scripts', 'lib', 'installed.mjs'))}; console.log(isInstalled(${JSON.stringify(root)}))`
  const { stdout } = await outputOf(process.execPath, ['--input-type=module', '-e', script])
  return stdout.trim() === 'true'
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: cleanEnvironment() })
}

function line(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (pattern.test(text)) resolve(text)
    })
    child.once('exit', () => reject(new Error(`ended after saying: ${text}`)))
  })
}
