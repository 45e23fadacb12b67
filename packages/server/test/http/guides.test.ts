// The guides as pages: nothing of how they are written is left, and no link leads nowhere.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { guideNames, guidePage, markdownOf, titleOf } from '../../src/http/docs/guides/index.ts'
import { anchorOf, rendered } from '../../src/http/docs/guides/markdown.ts'

const names = guideNames()
const pages = new Map(names.map(name => [name, guidePage(name, names)]))

describe('the guides', () => {
  for (const [name, html] of pages) {
    test(`${name} is rendered whole, and leads only to what is there`, () => {
      const text = html.replace(/<pre[\s\S]*?<\/pre>/g, '').replace(/<code>[\s\S]*?<\/code>/g, '')
      assert.doesNotMatch(text, /\*\w|\w\*|&lt;https|\]\(|`|^\||^#|^- /m)
      assert.match(html, /<h2 id=/)
      for (const [, path = '', anchor = ''] of html.matchAll(/href="(\/docs\/guides\/[\w-]+)?#([^"]*)"/g)) {
        const target = path === '' ? html : (pages.get(path.slice('/docs/guides/'.length)) ?? '')
        assert.ok(anchor === 'content' || target.includes(`id="${anchor}"`), `${name} leads to ${path}#${anchor}`)
      }
      for (const [, path = ''] of html.matchAll(/href="(\/docs\/guides\/[^"#]+)/g))
        assert.ok(pages.has(path.slice('/docs/guides/'.length)), path)
    })
  }

  test('the READMEs of the project and of the client are among them, with links that lead to what is served', () => {
    assert.deepEqual([names[0], titleOf('start'), titleOf('client')], ['start', 'Start', 'The TypeScript client'])
    const start = pages.get('start') ?? ''
    assert.match(start, /<h1>Start<\/h1>/)
    assert.match(start, /<a href="\/docs\/guides\/client">client<\/a>/)
    assert.match(start, /<a href="\/docs\/live">http:\/\/127\.0\.0\.1:8080\/docs\/live<\/a>/)
    assert.match(pages.get('orders') ?? '', /<a href="\/docs\/guides\/start#five-minutes">tour<\/a>/)
    assert.match(pages.get('orders') ?? '', /<a href="\/docs\/guides\/client#orders-cannot-be-doubled">client<\/a>/)
  })

  test('as Markdown they lead to Markdown: beside them, or at the service', () => {
    assert.match(markdownOf('start'), /\[Orders]\(orders\.md\)/)
    assert.match(markdownOf('orders'), /\[tour]\(start\.md#five-minutes\)/)
    assert.doesNotMatch(markdownOf('start'), /]\((?!https:|#|[\w-]+\.md)/)
    assert.match(markdownOf('orders', names, 'https://a.example'), /\[tour]\(https:\/\/a\.example\/docs\/guides\/start\.md#five-minutes\)/)
  })

  test('text is escaped, never rendered as markup', () => {
    const text = [
      '# A <b>title</b>',
      '',
      'First **bold `a|b`** and [away](x.md), [there](y.md#z).',
      'Second *line* at <https://example.com/a>, 2 * 3 * 4.',
      '',
      '## What `it` costs?',
      '1. one',
      '   goes on',
      '2. two',
      '   - below',
      '',
      '| | b |',
      '|---|---|',
      '| `x \\| y` | <i> |',
      '```sh',
      '# **not** a heading',
      '```'
    ].join('\n')
    const { title, lead, body } = rendered(text, target => (target === 'x.md' ? null : `/${target}`))
    assert.equal(title, 'A <b>title</b>')
    const first =
      '<p>First <strong>bold <code>a|b</code></strong> and away, <a href="/y.md#z">there</a>. Second <em>line</em> at <a href="/https://example.com/a">https://example.com/a</a>, 2 * 3 * 4.</p>\n'
    assert.equal(lead.html, first)
    assert.equal(
      body.html,
      first +
        '<h2 id="what-it-costs">What <code>it</code> costs?</h2>\n' +
        '<ol>\n<li>one goes on</li>\n<li>two<ul>\n<li>below</li>\n</ul>\n</li>\n</ol>\n' +
        '<div class="wide" role="group" tabindex="0" aria-label="Table"><table>\n<thead><tr><td></td><th scope="col">b</th></tr></thead>\n' +
        '<tbody>\n<tr><td><code>x | y</code></td><td>&lt;i&gt;</td></tr>\n</tbody>\n</table></div>\n' +
        '<pre tabindex="0"><code># **not** a heading</code></pre>\n'
    )
    assert.equal(anchorOf('With keys, instead of a login'), 'with-keys-instead-of-a-login')
  })
})
