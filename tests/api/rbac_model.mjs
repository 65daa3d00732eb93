// A plain model of Kubernetes' role based access control, for tests to compare the server with.
// It looks at every binding for every question, and knows nothing of how the server does it.
//
// A policy is a list of objects: ClusterRole, ClusterRoleBinding, Role, RoleBinding. A user is
// {name, groups}. A question is {verb, group, resource, subresource, namespace, name}, all texts
// that may be empty, or {verb, path}.

const has = (list, word) => (list ?? []).includes('*') || (list ?? []).includes(word);

function resourceMatches(rule, { resource, subresource }) {
    const words = rule.resources ?? [];
    if (words.includes('*')) return true;
    if (!subresource) return words.includes(resource);
    return words.includes(`${resource}/${subresource}`) || words.includes(`*/${subresource}`);
}

function pathMatches(pattern, path) {
    return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

export function ruleAllows(rule, question) {
    if (!has(rule.verbs, question.verb)) return false;
    if (question.path !== undefined)
        return (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, question.path));
    const names = rule.resourceNames ?? [];
    return (
        has(rule.apiGroups, question.group) &&
        resourceMatches(rule, question) &&
        (names.length === 0 || names.includes(question.name))
    );
}

function isSubject(subject, user, binding) {
    if (subject.kind === 'User') return subject.name === user.name;
    if (subject.kind === 'Group') return user.groups.includes(subject.name);
    const space = subject.namespace ?? binding.metadata.namespace;
    return user.name === `system:serviceaccount:${space}:${subject.name}`;
}

function rulesOf(policy, binding) {
    const { kind, name } = binding.roleRef;
    const role = policy.find(
        (object) =>
            object.kind === kind &&
            object.metadata.name === name &&
            (kind === 'ClusterRole' || object.metadata.namespace === binding.metadata.namespace),
    );
    return role?.rules ?? [];
}

export function allows(policy, user, question) {
    if (user.groups.includes('system:masters')) return true;
    const space = question.path === undefined ? question.namespace : '';
    return policy.some((binding) => {
        const here =
            binding.kind === 'ClusterRoleBinding' ||
            (binding.kind === 'RoleBinding' && space && binding.metadata.namespace === space);
        return (
            here &&
            (binding.subjects ?? []).some((subject) => isSubject(subject, user, binding)) &&
            rulesOf(policy, binding).some((rule) => ruleAllows(rule, question))
        );
    });
}

// What Kubernetes says to somebody who may not.
export function refusalOf(user, question) {
    const { verb, path, group, resource, subresource, namespace, name } = question;
    const who = `User "${user.name}" cannot ${verb}`;
    if (path !== undefined) return `forbidden: ${who} path "${path}"`;
    const what = group ? `${resource}.${group}` : resource;
    const which = name ? `${what} "${name}"` : what;
    const full = subresource ? `${resource}/${subresource}` : resource;
    const where = namespace ? `in the namespace "${namespace}"` : 'at the cluster scope';
    return `${which} is forbidden: ${who} resource "${full}" in API group "${group}" ${where}`;
}
