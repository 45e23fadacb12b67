// The commands that the documents show work when pasted in order, and print what the documents say they print.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { metricsPage } from '@trunkline/testkit/metrics'
import { until } from '@trunkline/testkit/until'
import { type RunningService, startService } from './harness.ts'
import { type Block, blocksIn, holdAgainst, Shell } from './snippets.ts'
import { textOf, Walker } from './walker.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** Into a pipe no secret is printed: the service is made to believe that it writes to a terminal, and the sandbox beside it is not. */
const AT_TERMINAL = {
  NODE_OPTIONS: "--import=data:text/javascript,if(process.argv[1]?.endsWith('server/src/main.ts'))process.stdout.isTTY=true"
}
const GUIDES = [
  'docs/guides/orders.md',
  'docs/guides/stream.md',
  'docs/guides/market-data.md',
  'docs/guides/connect.md',
  'docs/guides/sandbox.md'
]

describe('the documents', () => {
  let service: RunningService
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-reader-'))
    service = await startService('none', AT_TERMINAL)
    await symlink(service.dataDir, join(folder, '.data'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await symlink(join(ROOT, 'docs'), join(folder, 'docs'))
    await until(() => service.output().includes('npm run demo'), 'the first page is printed')
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    assert.match(service.output(), /\nStopping: waiting for requests and orders under way, .*\nStopped\.\n/)
    await rm(folder, { recursive: true })
  })

  async function blocksOf(file: string): Promise<readonly Block[]> {
    return blocksIn(await readFile(join(ROOT, file), 'utf8'))
  }

  /** Pastes a document's commands one block after another. Gives how many there were. */
  async function paste(shell: Shell, file: string): Promise<number> {
    let printed = ''
    let count = 0
    for (const { marks, text, line } of await blocksOf(file)) {
      const [language, ...purposes] = marks
      if (language === 'sh' && purposes.includes('run')) {
        printed = await shell.run(text)
        count++
        if (purposes.includes('connect')) await connect(printed.trim())
      } else if (purposes[0] === 'file' && purposes[1] !== undefined) {
        await writeFile(join(folder, purposes[1]), text)
      } else if (language === 'text' && purposes.includes('output')) {
        holdAgainst(text, printed, `${file}:${line}`)
      }
    }
    return count
  }

  async function connect(link: string): Promise<void> {
    const [login] = service.demo.sandbox_logins
    assert.ok(login !== undefined)
    const walker = new Walker(`${service.url}/nowhere`)
    const invitation = await walker.open(link)
    const chosen = await walker.submit(invitation, { decision: 'approve', broker: 'SANDBOX' })
    // Where the link leaves the broker open, the choice comes first, and then the question about it.
    const asked = chosen.url.includes('/allow/') ? await walker.submit(chosen, { decision: 'approve' }) : chosen
    const consent = await walker.submit(asked, { ...login, decision: 'approve' })
    assert.match(textOf(await walker.submit(consent, { decision: 'approve' })), /Your account is connected/)
  }

  test('README.md shows the first page as it is printed', async () => {
    const shown = (await blocksOf('README.md')).find(({ marks }) => marks.includes('first-page'))
    assert.ok(shown !== undefined)
    holdAgainst(shown.text, service.output(), `README.md:${shown.line}`)
  })

  test('the tour of README.md works from its first line to its last', async () => {
    await using shell = new Shell(folder)
    assert.ok((await paste(shell, 'README.md')) >= 6)
  })

  test('the guides begin with the helpers of the tour, and in its terminal with its user', async () => {
    const [helpers] = (await blocksOf('README.md')).filter(({ marks }) => marks.includes('run'))
    const begin = await readFile(join(ROOT, 'docs/guides/tour.sh'), 'utf8')
    assert.equal(begin.split('\n').slice(1).join('\n').slice(0, helpers?.text.length), helpers?.text)
    await using shell = new Shell(folder)
    assert.equal(await shell.run('USER_ID=ada USER_SECRET=us_x; . docs/guides/tour.sh; echo $USER_ID $USER_SECRET'), 'ada us_x\n')
  })

  test('the helpers of the tour show a call that failed, and say what they waited for in vain', async () => {
    await using shell = new Shell(folder)
    const [helpers] = (await blocksOf('README.md')).filter(({ marks }) => marks.includes('run'))
    await shell.run(helpers?.text ?? '')
    const refused = await shell.run(`platform $URL/users -d '{"user_id": " "}' | json answer.user_id; echo "code $?"`)
    assert.match(refused, /^The call failed: \{.*"code":"field_invalid".*\}\ncode 1\n$/)
    assert.equal(await shell.run(`platform $URL/users -d '{"user_id": " "}' | json answer.code`), 'field_invalid\n')
    assert.match(await shell.run('echo nothing here | json answer'), /^This is not JSON: nothing here/)
    assert.match(await shell.run("echo '[]' | json 'answer[0].order_id'"), /undefined.*, in the answer \[\]/)
    assert.equal(
      await shell.run("sleep() { :; }; wait_for 'answer from a wall' false; echo $?"),
      'Waited two minutes, and there is still no answer from a wall\n1\n'
    )
  })

  for (const guide of GUIDES) {
    test(`${guide} works by itself, in a new terminal`, async () => {
      await using shell = new Shell(folder)
      assert.ok((await paste(shell, guide)) >= 2)
      assert.deepEqual((await readdir(folder)).sort(), ['.data', 'docs', 'node_modules'], 'everything is written where it is ignored')
    })
  }

  test('docs/guides/operating.md names metrics that there are', async () => {
    const metrics = await metricsPage(service.url)
    const served = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const text = await readFile(join(ROOT, 'docs/guides/operating.md'), 'utf8')
    const named = [...text.matchAll(/`(trunkline_\w+)/g)].map(([, name = '']) => name)
    assert.ok(named.length >= 10)
    assert.deepEqual(
      named.filter(name => !served.has(name)),
      []
    )
  })

  test('the three lines of the first page work when pasted into a shell, also a second time', async () => {
    const lines = service
      .output()
      .split('\n')
      .map(line => line.trim())
      .filter(line => /^(curl|USER_ID)/.test(line))
    assert.equal(lines.length, 3)
    for (const program of ['bash', 'sh']) {
      await using shell = new Shell(folder, program)
      const [brokers = '', user = '', link = ''] = lines
      assert.equal(JSON.parse(await shell.run(brokers))[0].broker, 'SANDBOX')
      assert.match(await shell.run(user), /^user ada-[\d-]+ was created\n$/)
      assert.match(JSON.parse(await shell.run(link)).authorization_url, /\/connect\/[\w-]{43}$/)
    }
  })

  test('the printed portal link is ready to click', async () => {
    const [, link = ''] = /^ {2}(http\S+\/connect\/\S+)$/m.exec(service.output()) ?? []
    await connect(link)
  })
})

test('what is printed is held against what is shown', () => {
  const fails = (shown: string, printed: string) => assert.throws(() => holdAgainst(shown, printed, 'here'), { code: 'ERR_ASSERTION' })
  holdAgainst('at 1.50 of 2026-01-01T00:00:00.000Z', 'at 22 of 2027-02-02T11:11:11.123456Z', 'here')
  holdAgainst('a\n⋮\nd…', 'a\nb\nc\nd and so on', 'here')
  fails('filled', 'working')
  fails('{"o":"227.40"', '{"o":"237.5"')
  holdAgainst('{"o":"227.4","c":"228"', '{"o":"237.52","c":"9.75"', 'here')
  fails('a\nb', 'a\nb\nc')
  fails('a.c', 'abc')
  assert.deepEqual(
    blocksIn('x\n```sh run\nls\n```\n```text\nno\n```').map(({ marks, line }) => [marks, line]),
    [
      [['sh', 'run'], 2],
      [['text'], 5]
    ]
  )
})
