// Which tests cover which attacks, read from their titles.

export interface NamingTest {
  readonly file: string
  readonly title: string
}

/** A string or template that ends with ids in brackets: the title of a test that covers them. */
const TITLE = /(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>)[^\\\n])*?) \[(?<ids>S\d+(?:, S\d+)*)\]\k<quote>/g

/** The folders of tests, and of the suites that they run. */
export const HOLDS_TESTS = /^(packages\/[^/]+\/test|packages\/testkit\/src|test|bench|scripts\/test)\/(?!repo\/attacks\.).*\.ts$/

/** The tests by attack, in the order of the files. */
export function testsByAttack(files: readonly string[], textOf: (file: string) => string): ReadonlyMap<string, readonly NamingTest[]> {
  const found = new Map<string, NamingTest[]>()
  for (const file of files.filter(file => HOLDS_TESTS.test(file))) {
    for (const { groups } of textOf(file).matchAll(TITLE)) {
      for (const id of groups?.ids?.split(', ') ?? []) {
        const tests = found.get(id) ?? []
        tests.push({ file, title: groups?.title ?? '' })
        found.set(id, tests)
      }
    }
  }
  return found
}
