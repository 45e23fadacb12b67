// Preloaded into the processes of a run: a test file or a program that was bundled runs from its bundle.
import { registerHooks } from 'node:module'

/** `bundles`: the URL of each source, and that of its bundle. */
export function redirect(bundles: Readonly<Record<string, string>>): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const url = context.parentURL === undefined ? bundles[found.url] : undefined
      return url === undefined ? found : { ...found, url, format: 'module' }
    }
  })
}
