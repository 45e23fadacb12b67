// The browser gets the library under this name (see ../index.ts): a page without an import map cannot ask for a package.
export * from 'lightweight-charts'
