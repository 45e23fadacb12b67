// Refuses unsafe entries of a lock file before npm starts, whatever their origin, because npm's own refusals depend on its version.

const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/
const PACKAGE_PATH = /^(?:packages\/[\w-]+\/)?(?:node_modules\/(?:@[\w.-]+\/)?[\w.-]+\/?)+$/
/** The allowed version specifiers: a range of versions, or another name in the registry; not an address, a repository or a file. */
const RANGE = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?[\s\dxX*^~<>=|.,\-+\w]*$/
const FOREIGN = /^(?:git|github|gitlab|bitbucket|gist|https?|file|link|workspace)\b.*:|^[\w.-]+\/[\w.-]+(?:#|$)/

/**
 * Every entry that npm would fetch from outside the registry, could not verify, or would let run an unreviewed script.
 * `allowScripts`: names of packages with reviewed install scripts. Returns lines to print; none if all is well.
 */
export function complaintsAbout({ lockfileVersion, packages = {} }, allowScripts) {
  const complaints = lockfileVersion === 3 ? [] : [`the lock must be of version 3, was ${lockfileVersion}`]
  for (const [path, entry] of Object.entries(packages)) {
    complaints.push(...dependencyComplaints(path, entry))
    if (path.includes('node_modules/')) complaints.push(...fetched(path, entry, packages, allowScripts))
  }
  return complaints
}

function dependencyComplaints(path, { dependencies = {}, devDependencies = {}, optionalDependencies = {} }) {
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, range]) => FOREIGN.test(range) || !RANGE.test(range))
    .map(([name, range]) => `${path || 'package.json'} requires ${name} as ${range}: only versions of the registry are allowed`)
}

function fetched(path, entry, packages, allowScripts) {
  if (!PACKAGE_PATH.test(path)) return [`${path} is not a path for a package`]
  if (entry.link === true) return packages[entry.resolved] === undefined ? [`${path} leads out of the checkout, to ${entry.resolved}`] : []
  const complaints = []
  if (entry.resolved !== undefined) complaints.push(`${path} is fetched from ${entry.resolved}: the lock must not contain addresses`)
  if (entry.inBundle !== true && !INTEGRITY.test(entry.integrity ?? '')) complaints.push(`${path} has no SHA-512 checksum`)
  const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  if (entry.hasInstallScript === true && !allowScripts.includes(name))
    complaints.push(`${path} has an install script, and is not in allowScripts`)
  return complaints
}
