// Dependencies: exact, locked with a checksum and without a host, reviewed before they run anything, and each with a written reason.
import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { importsIn } from '../../scripts/testing/imports.ts'
import { filesLike, ROOT, SOURCES, textOf } from './repository.ts'

const { complaintsAbout } = await import(join(ROOT, 'scripts/lib/lockfile.mjs'))

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly allowScripts?: Readonly<Record<string, boolean>>
}
interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifests = new Map(filesLike(/^(packages\/[^/]+\/)?package\.json$/).map(file => [file, manifestOf(file)]))
const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(textOf('package-lock.json'))

function scriptsIn(file: string): readonly string[] {
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(textOf(file))
  return Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript === true ? [path.replace(/^.*node_modules\//, '')] : []
  )
}

function manifestOf(file: string): Manifest {
  return JSON.parse(textOf(file))
}

test('versions are exact', () => {
  const loose = [...manifests].flatMap(([file, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${file}: ${name} ${version}`)
  )
  assert.deepEqual(loose, [])
})

test('the lock agrees with every package.json', () => {
  for (const [file, { dependencies = {}, devDependencies = {}, optionalDependencies = {} }] of manifests) {
    const locked = lock.packages[file.replace(/\/?package\.json$/, '')]
    assert.deepEqual(
      {
        dependencies: locked?.dependencies ?? {},
        devDependencies: locked?.devDependencies ?? {},
        optionalDependencies: locked?.optionalDependencies ?? {}
      },
      { dependencies, devDependencies, optionalDependencies },
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

test('no lock has an entry from outside the registry, without a checksum, or with an unreviewed script [S83]', () => {
  const locks = filesLike(/(^|\/)package-lock\.json$/)
  assert.ok(locks.length >= 4)
  for (const file of locks) {
    // Others than the root's are installed without running any script.
    const allowed = file === 'package-lock.json' ? Object.keys(manifests.get('package.json')?.allowScripts ?? {}) : scriptsIn(file)
    assert.deepEqual(complaintsAbout(JSON.parse(textOf(file)), allowed), [], file)
  }
})

test('each way to tamper with a lock is named [S83]', () => {
  const name = 'node_modules/fastify'
  const tampered = (change: object, asked: object = {}) =>
    complaintsAbout(
      { ...lock, packages: { ...lock.packages, '': { ...lock.packages[''], ...asked }, [name]: { ...lock.packages[name], ...change } } },
      [...Object.keys(manifests.get('package.json')?.allowScripts ?? {})]
    ).join('\n')
  assert.equal(tampered({}), '')
  assert.match(tampered({ integrity: undefined }), /fastify has no SHA-512 checksum/)
  assert.match(tampered({ integrity: 'sha1-AAAA' }), /fastify has no SHA-512 checksum/)
  assert.match(tampered({ resolved: 'https://downloads.example.com/fastify.tgz' }), /fetched from https/)
  assert.match(tampered({ resolved: 'git+ssh://git@example.com/x.git#abc' }), /fetched from git/)
  assert.match(tampered({ link: true, resolved: '../elsewhere' }), /leads out of the checkout/)
  assert.match(tampered({ hasInstallScript: true }), /has an install script/)
  for (const range of [
    'git+https://example.com/x.git',
    'github:a/b',
    'a/b',
    'https://example.com/x.tgz',
    'file:../x',
    'git@example.com:a/b.git'
  ])
    assert.match(tampered({}, { dependencies: { other: range } }), /requires other as/, range)
})

test('npm is configured the same: no git, no addresses, no files, no unreviewed scripts [S83]', () => {
  const settings = new Map([...textOf('.npmrc').matchAll(/^([\w-]+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  const wanted = { 'allow-git': 'none', 'allow-remote': 'none', 'allow-file': 'none', 'strict-allow-scripts': 'true', 'save-exact': 'true' }
  for (const [name, value] of Object.entries(wanted)) assert.equal(settings.get(name), value, name)
  // npm holds `npm ci` to an age as well: a clone of a lock with a young version could not be installed at all.
  assert.equal(settings.get('min-release-age'), undefined)
})

test('the Node we run on is a locked package for each platform, so its checksum is in the lock', () => {
  const nodes = Object.keys(manifests.get('package.json')?.optionalDependencies ?? {}).filter(name => name.startsWith('node-'))
  assert.equal(nodes.length, 5)
  for (const name of nodes) assert.match(lock.packages[`node_modules/${name}`]?.integrity ?? '', /^sha512-/, name)
  assert.equal(new Set(nodes.map(name => lock.packages[`node_modules/${name}`]?.version)).size, 1)
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
  // Only the published manifest of the client has its peers: in that of the workspace, npm would install them for production.
  const { peerDependencies: peers = {} } = manifestOf('packages/client/dist/package.json')
  for (const file of SOURCES) {
    const manifest = manifests.get(file.replace(/\/src\/.*$/, '/package.json'))
    for (const { specifier, isValue } of importsIn(textOf(file))) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier
      const isOwn = specifier.startsWith('.') || name.startsWith('@trunkline/')
      if (isOwn || !isValue || specifier.startsWith('node:') || builtinModules.includes(name)) continue
      const isTestTool = file.startsWith('packages/testkit/') && name in (manifests.get('package.json')?.devDependencies ?? {})
      const isPeer = file.startsWith('packages/client/') && name in peers
      // Built before it is served, so that a production image installs nothing of it.
      const isBuiltIn = file.startsWith('packages/console/') && name in (manifest?.devDependencies ?? {})
      if (!(name in (manifest?.dependencies ?? {})) && !isTestTool && !isPeer && !isBuiltIn) undeclared.push(`${file} imports ${name}`)
    }
  }
  assert.deepEqual(undeclared, [], 'add it to the dependencies of the package')
})
