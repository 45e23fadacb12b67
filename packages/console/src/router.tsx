// The pages and their addresses below `/console/`.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { NotFound } from './parts/not-found.tsx'
import { Shell } from './parts/shell.tsx'
import { filtersOf, filtersText, parseFilters } from './search-text.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
const getParentRoute = () => root

const routes = [
  createRoute({ getParentRoute, path: '/', component: lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage') }),
  createRoute({
    ...{ getParentRoute, path: '/orders', validateSearch: filtersOf(['user', 'connection']) },
    component: lazyRouteComponent(() => import('./pages/orders.tsx'), 'OrdersPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/orders/$orderId' },
    component: lazyRouteComponent(() => import('./pages/order.tsx'), 'OrderPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/users', validateSearch: filtersOf(['platform', 'user_id']) },
    component: lazyRouteComponent(() => import('./pages/users.tsx'), 'UsersPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/users/$userKey' },
    component: lazyRouteComponent(() => import('./pages/user.tsx'), 'UserPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/connections', validateSearch: filtersOf(['platform', 'user', 'status']) },
    component: lazyRouteComponent(() => import('./pages/connections.tsx'), 'ConnectionsPage')
  }),
  createRoute({
    getParentRoute,
    path: '/platforms',
    component: lazyRouteComponent(() => import('./pages/platforms.tsx'), 'PlatformsPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/deliveries', validateSearch: filtersOf(['endpoint', 'user']) },
    component: lazyRouteComponent(() => import('./pages/deliveries.tsx'), 'DeliveriesPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/endpoints', validateSearch: filtersOf(['platform']) },
    component: lazyRouteComponent(() => import('./pages/endpoints.tsx'), 'EndpointsPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/endpoints/$platformId/$endpointId' },
    component: lazyRouteComponent(() => import('./pages/endpoint.tsx'), 'EndpointPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/requests', validateSearch: filtersOf(['failed', 'code', 'request_id', 'platform', 'user']) },
    component: lazyRouteComponent(() => import('./pages/requests.tsx'), 'RequestsPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/events', validateSearch: filtersOf(['user', 'after', 'type']) },
    component: lazyRouteComponent(() => import('./pages/events.tsx'), 'EventsPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/audit' },
    component: lazyRouteComponent(() => import('./pages/audit.tsx'), 'AuditPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/sandbox' },
    component: lazyRouteComponent(() => import('./pages/sandbox.tsx'), 'SandboxPage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/trade', validateSearch: filtersOf(['user', 'symbol']) },
    component: lazyRouteComponent(() => import('./pages/trade.tsx'), 'TradePage')
  }),
  createRoute({
    ...{ getParentRoute, path: '/search', validateSearch: filtersOf(['q']) },
    component: lazyRouteComponent(() => import('./pages/search.tsx'), 'SearchPage')
  })
] as const

/** The console's router. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  parseSearch: parseFilters,
  stringifySearch: filtersText,
  scrollRestoration: true,
  defaultPreload: 'intent'
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
