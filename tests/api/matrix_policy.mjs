// Who may do what in the authorization matrix: identities, the roles and bindings that the test
// makes for them, and what the server's own roles are meant to allow. The last are written down
// here once more, by kind, so that a slip in the server's table is noticed.

const rbac = 'rbac.authorization.k8s.io';
const read = ['get', 'list', 'watch'];
const letters = {
    '-': [],
    R: read,
    W: [...read, 'create', 'update', 'patch', 'delete', 'deletecollection'],
    S: ['get', 'update', 'patch'],
    C: ['create'],
    G: ['get'],
    P: ['get', 'update'],
    E: [...read, 'create', 'update', 'patch'],
};
const roles = ['admin', 'edit', 'view', 'system:controllers'];
const table = `
    configmaps                                        W W R R
    secrets                                           W W - -
    events                                            W W R E
    services                                          W W R R
    services/status                                   R R R -
    serviceaccounts                                   W W R R
    serviceaccounts/token                             C C - -
    namespaces                                        R R R R
    namespaces/status                                 R R R -
    events.k8s.io:events                              W W R E
    coordination.k8s.io:leases                        W W R W
    authorization.k8s.io:localsubjectaccessreviews    C - - -
    rbac.authorization.k8s.io:roles                   W - - -
    rbac.authorization.k8s.io:rolebindings            W - - -
    apiextensions.k8s.io:customresourcedefinitions    - - - R
    catalog.gitstore.dev:products                     R R R -
    catalog.gitstore.dev:productvariants              R R R -
    catalog.gitstore.dev:categorytaxonomies           R R R -
    catalog.gitstore.dev:collections                  R R R -
    catalog.gitstore.dev:*                            - - - R
    git.vedette.dev:repositories                      W W R R
    git.vedette.dev:repositories/status               R R R -
    git.vedette.dev:repositories/contents             P P G -
    *:*/status                                        - - - S
`;

const object = (kind, name, fields, namespace) => ({
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { name, ...(namespace && { namespace }) },
    ...fields,
});
const rule = (verbs, group, resource, more) => ({
    verbs,
    apiGroups: [group],
    resources: [resource],
    ...more,
});
const paths = (...nonResourceURLs) => [{ verbs: ['get'], nonResourceURLs }];
export const subjectOf = (kind, name, namespace) =>
    kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, name, apiGroup: rbac };
export const binding = (name, subject, role, namespace, roleKind = 'ClusterRole') =>
    object(
        namespace ? 'RoleBinding' : 'ClusterRoleBinding',
        name,
        { subjects: [subject], roleRef: { apiGroup: rbac, kind: roleKind, name: role } },
        namespace,
    );
export const role = (name, rules, namespace) =>
    object(namespace ? 'Role' : 'ClusterRole', name, { rules }, namespace);

function tableRules(column) {
    const rules = [];
    for (const line of table.trim().split('\n')) {
        const [what, ...cells] = line.trim().split(/ +/);
        const [group, resource] = what.includes(':') ? what.split(':') : ['', what];
        const verbs = letters[cells[column]];
        if (verbs.length) rules.push(rule(verbs, group, resource));
    }
    return rules;
}

const health = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const self = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'];

// What every server has.
export const defaults = [
    ...roles.map((name, i) => role(name, tableRules(i))),
    role('system:basic-user', [
        ...self.map((resource) => rule(['create'], 'authorization.k8s.io', resource)),
        rule(['create'], 'authentication.k8s.io', 'selfsubjectreviews'),
    ]),
    role(
        'system:discovery',
        paths('/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...health),
    ),
    role(
        'system:monitoring',
        paths('/metrics', '/metrics/slis', '/healthz/*', '/livez/*', '/readyz/*', ...health),
    ),
    ...['system:basic-user', 'system:discovery'].map((name) =>
        binding(name, subjectOf('Group', 'system:authenticated'), name),
    ),
    ...['system:controllers', 'system:monitoring'].map((name) =>
        binding(name, subjectOf('Group', name), name),
    ),
];

export const home = 'team-a'; // where the bindings are
export const away = 'team-b';

// Kinds of the test's own: one in namespaces with both subresources, one without either.
const customGroup = 'matrix.example.com';
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = (kind, plural, scope, subresources) => ({
    metadata: { name: `${plural}.${customGroup}` },
    spec: {
        group: customGroup,
        scope,
        names: { kind, plural },
        versions: [
            {
                name: 'v1',
                served: true,
                storage: true,
                subresources,
                schema: {
                    openAPIV3Schema: {
                        type: 'object',
                        properties: { spec: anything, status: anything },
                    },
                },
            },
        ],
    },
});
export const definitions = [
    definition('Gear', 'gears', 'Namespaced', {
        status: {},
        scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
    }),
    definition('Axle', 'axles', 'Cluster'),
];

export const resourceVerbs = [...letters.W];
const all = (verbs) => [rule(verbs, '*', '*')];
const named = { resourceNames: ['a'] };

// The test's own roles and bindings.
export const made = [
    ...['admin', 'edit', 'view'].map((name) =>
        binding(`${name}s`, subjectOf('User', `user-${name}`), name, home),
    ),
    role('named', [rule(['*'], '', 'configmaps', named), rule(['*'], '', 'secrets', named)], home),
    binding('named', subjectOf('User', 'named'), 'named', home, 'Role'),
    ...resourceVerbs.flatMap((verb) => [
        role(`only-${verb}`, all([verb])),
        binding(`only-${verb}`, subjectOf('User', `only-${verb}`), `only-${verb}`),
    ]),
    role('star', all(['*']), home),
    binding('star', subjectOf('User', 'star'), 'star', home, 'Role'),
    role('below', [
        rule(['*'], '', '*/status'),
        rule(['create'], '', 'serviceaccounts/token'),
        rule(['update'], '', 'namespaces/finalize', { resourceNames: [home] }),
    ]),
    binding('below', subjectOf('User', 'below'), 'below'),
    // Rights to custom kinds, each to one door of them.
    role('gear-status', [rule(letters.S, customGroup, 'gears/status')], home),
    binding('gear-status', subjectOf('User', 'gear-status'), 'gear-status', home, 'Role'),
    role('gear-scale', [rule(letters.S, customGroup, 'gears/scale', named)], home),
    binding('gear-scale', subjectOf('User', 'gear-scale'), 'gear-scale', home, 'Role'),
    role('gear-owner', [rule(letters.W, customGroup, 'gears')], home),
    binding('gear-owner', subjectOf('User', 'gear-owner'), 'gear-owner', home, 'Role'),
    role('gear-below', [rule(['*'], customGroup, '*/scale'), rule(read, customGroup, 'axles')]),
    binding('gear-below', subjectOf('User', 'gear-below'), 'gear-below'),
    role('no-gears', [rule(['*'], 'example.com', '*'), rule(['*'], '', 'gears')]),
    binding('no-gears', subjectOf('User', 'no-gears'), 'no-gears'),
    role(
        'robot',
        [rule(read, '', 'configmaps'), rule(['get'], 'coordination.k8s.io', 'leases')],
        home,
    ),
    binding('robot', subjectOf('ServiceAccount', 'robot', home), 'robot', home, 'Role'),
    role('robots', [rule(['list'], '', 'services')]),
    binding('robots', subjectOf('Group', `system:serviceaccounts:${home}`), 'robots'),
    binding('crew', subjectOf('Group', 'crew'), 'view', home),
    role('paths', paths('/metrics', '/nothing/*', '/odd*')),
    binding('paths', subjectOf('User', 'paths'), 'paths'),
    // A binding in a namespace gives no paths.
    binding('no-paths', subjectOf('User', 'named'), 'paths', home),
];

const token = (name, ...groups) => ({
    name,
    groups: [...groups, 'system:authenticated'],
    by: 'token',
});

export const identities = [
    { name: 'system:anonymous', groups: ['system:unauthenticated'], by: 'nothing' },
    token('nobody'),
    token('root', 'system:masters'),
    ...['admin', 'edit', 'view'].map((name) => token(`user-${name}`)),
    token('named'),
    ...resourceVerbs.map((verb) => token(`only-${verb}`)),
    token('star'),
    token('below'),
    ...['gear-status', 'gear-scale', 'gear-owner', 'gear-below', 'no-gears'].map((name) =>
        token(name),
    ),
    token('paths'),
    token('conny', 'system:controllers'),
    token('mona', 'system:monitoring'),
    {
        name: `system:serviceaccount:${home}:robot`,
        groups: [
            'system:serviceaccounts',
            `system:serviceaccounts:${home}`,
            'system:authenticated',
        ],
        by: 'account',
    },
    { name: 'cora', groups: ['crew', 'system:authenticated'], by: 'certificate' },
];
