// Dependencies: exact, locked without a host, reviewed before they run anything, and each with a written reason.
import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { test } from 'node:test'
import { importsIn } from '../../scripts/testing/imports.ts'
import { filesLike, SOURCES, textOf } from './repository.ts'

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly allowScripts?: Readonly<Record<string, boolean>>
}
interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifests = new Map(filesLike(/^(packages\/[^/]+\/)?package\.json$/).map(file => [file, manifestOf(file)]))
const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(textOf('package-lock.json'))

function manifestOf(file: string): Manifest {
  return JSON.parse(textOf(file))
}

test('versions are exact', () => {
  const loose = [...manifests].flatMap(([file, { dependencies, devDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${file}: ${name} ${version}`)
  )
  assert.deepEqual(loose, [])
})

test('the lock agrees with every package.json', () => {
  for (const [file, { dependencies = {}, devDependencies = {} }] of manifests) {
    const locked = lock.packages[file.replace(/\/?package\.json$/, '')]
    assert.deepEqual(
      { dependencies: locked?.dependencies ?? {}, devDependencies: locked?.devDependencies ?? {} },
      { dependencies, devDependencies },
      `${file}: run npm install`
    )
  }
})

test('the lock names no host', () => {
  const hosts = Object.entries(lock.packages).filter(([, { resolved, link }]) => resolved !== undefined && link !== true)
  assert.deepEqual(
    hosts.map(([path, { resolved }]) => `${path} ${resolved}`),
    [],
    'npm install with the .npmrc of this repository leaves them out'
  )
})

test('every install script was approved by name, and no approval is left over', () => {
  const allowed = Object.keys(manifests.get('package.json')?.allowScripts ?? {}).sort()
  const wanting = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  const names = [...new Set(wanting.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)))].sort()
  assert.deepEqual(allowed, names, 'allowScripts of package.json')
})

test('every runtime dependency has its reason in a decision record', () => {
  const records = filesLike(/^docs\/decisions\/.*\.md$/)
    .map(textOf)
    .join('\n')
  const unexplained = [...manifests].flatMap(([file, { dependencies = {} }]) =>
    Object.keys(dependencies)
      .filter(name => !records.includes(`\`${name}\``))
      .map(name => `${file}: ${name}`)
  )
  assert.deepEqual(unexplained, [], 'name it, in backquotes, in docs/decisions/')
})

test('a package imports only what it declares', () => {
  const undeclared: string[] = []
  for (const file of SOURCES) {
    const manifest = manifests.get(file.replace(/\/src\/.*$/, '/package.json'))
    for (const { specifier, isValue } of importsIn(textOf(file))) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
      const isOwn = specifier.startsWith('.') || name.startsWith('@trunkline/')
      if (isOwn || !isValue || specifier.startsWith('node:') || builtinModules.includes(name)) continue
      const isTestTool = file.startsWith('packages/testkit/') && name in (manifests.get('package.json')?.devDependencies ?? {})
      if (!(name in (manifest?.dependencies ?? {})) && !isTestTool) undeclared.push(`${file} imports ${name}`)
    }
  }
  assert.deepEqual(undeclared, [], 'add it to the dependencies of the package')
})
