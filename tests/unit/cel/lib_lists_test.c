/* Kubernetes' libraries: src/cel/lib_lists.c, lib_url.c, lib_quantity.c, lib_net.c, lib_optional.c.
 */
#include "cel_check.h"

static const char *const lists[] = {
    "[1, 2, 3].isSorted()",
    "[].isSorted()",
    "![2, 1].isSorted()",
    "['a', 'b', 'b'].isSorted()",
    "[1.0, 2.0].isSorted()",
    "[1, 2, 3].sum() == 6",
    "[1.5, 1.5].sum() == 3.0",
    "[duration('1s'), duration('2s')].sum() == duration('3s')",
    "[3, 1, 2].min() == 1",
    "[3, 1, 2].max() == 3",
    "['b', 'a'].min() == 'a'",
    "[timestamp(5), timestamp(3)].max() == timestamp(5)",
    "[1, 2, 2].indexOf(2) == 1",
    "[1, 2, 2].lastIndexOf(2) == 2",
    "[1].indexOf(5) == -1",
    "self.l.indexOf(2) == 1",
    "self.l.sum() == 3",
    "sets.contains([1, 2], [2])",
    "!sets.contains([1, 2], [3])",
    "sets.contains([1], [])",
    "sets.equivalent([1, 2, 2], [2, 1])",
    "!sets.equivalent([1], [1, 2])",
    "sets.intersects([1, 2], [2, 3])",
    "!sets.intersects([1], [2])",
};

static const char *const urls[] = {
    "isURL('https://user@example.com:80/path?a=1')",
    "isURL('/a/path')",
    "!isURL('../relative')",
    "!isURL('')",
    "!isURL('http://exa mple.com')",
    "!isURL('http://a:b:c/')",
    "!isURL('https://x/%zz')",
    "!isURL(':foo')",
    "url('HTTPS://example.com').getScheme() == 'https'",
    "url('https://example.com:8080/').getHost() == 'example.com:8080'",
    "url('https://example.com:8080/').getHostname() == 'example.com'",
    "url('https://example.com:8080/').getPort() == '8080'",
    "url('https://example.com/').getPort() == ''",
    "url('https://[::1]:80/').getHostname() == '::1'",
    "url('https://[::1]/').getHost() == '[::1]'",
    "url('/path').getHost() == ''",
    "url('https://e.com/a%20b/c d').getEscapedPath() == '/a%20b/c%20d'",
    "url('https://e.com').getEscapedPath() == ''",
    "url('https://e.com/?k=a&k=b&x=1%202+3').getQuery()['k'] == ['a', 'b']",
    "url('https://e.com/?x=1%202+3').getQuery()['x'] == ['1 2 3']",
    "url('https://e.com/?flag').getQuery()['flag'] == ['']",
    "url('https://e.com/').getQuery() == {}",
    "url('https://e.com/') == url('https://e.com/')",
};

static const char *const quantities[] = {
    "isQuantity('1.5G')",
    "isQuantity('1.3Gi')",
    "isQuantity('10000k')",
    "isQuantity('.5')",
    "isQuantity('5.')",
    "isQuantity('1e3')",
    "isQuantity('1E-3')",
    "!isQuantity('1,3G')",
    "!isQuantity('200K')",
    "!isQuantity('Three')",
    "!isQuantity('Mi')",
    "!isQuantity('')",
    "!isQuantity('1 G')",
    "!isQuantity('1e')",
    "quantity('200M').compareTo(quantity('0.2G')) == 0",
    "quantity('50M').compareTo(quantity('50Mi')) == -1",
    "quantity('50Mi').compareTo(quantity('50M')) == 1",
    "quantity('1Ki') == quantity('1024')",
    "quantity('1.5Gi') == quantity('1536Mi')",
    "quantity('0.1Ki') == quantity('102.4')",
    "quantity('1e3') == quantity('1k')",
    "quantity('1000m') == quantity('1')",
    "quantity('1000000u') == quantity('1')",
    "quantity('0.001') == quantity('1m')",
    "quantity('0.00000000001') == quantity('1n')",
    "quantity('150Mi').isGreaterThan(quantity('100Mi'))",
    "quantity('50M').isLessThan(quantity('100M'))",
    "!quantity('100M').isLessThan(quantity('50M'))",
    "quantity('-1').isLessThan(quantity('0'))",
    "quantity('-2').isLessThan(quantity('-1'))",
    "quantity('50k').add(quantity('20k')) == quantity('70k')",
    "quantity('50k').add(20) == quantity('50020')",
    "quantity('50k').sub(quantity('20k')) == quantity('30k')",
    "quantity('50k').sub(20000) == quantity('30k')",
    "quantity('50k').add(20).sub(quantity('100k')).sub(-50000) == quantity('20')",
    "quantity('100m').sub(quantity('1')) == quantity('-900m')",
    "quantity('50k').asInteger() == 50000",
    "quantity('50000000G').isInteger()",
    "!quantity('1.5').isInteger()",
    "!quantity('9999999999999999999999999999999999999G').isInteger()",
    "quantity('1.5').asApproximateFloat() == 1.5",
    "sign(quantity('-5')) == -1",
    "quantity('0').sign() == 0",
    "quantity('1m').sign() == 1",
    "quantity('9999999999999999999999999999999999999G').isGreaterThan(quantity('1E'))",
};

static const char *const addresses[] = {
    "isIP('127.0.0.1')",
    "isIP('::1')",
    "!isIP('127.0.0.256')",
    "!isIP(':::1')",
    "!isIP('127.0.0.01')",
    "!isIP('fe80::1%eth0')",
    "!isIP('::ffff:1.2.3.4')",
    "!isIP('')",
    "ip('127.0.0.1') == ip('127.0.0.1')",
    "ip('2001:db8::1') == ip('2001:DB8:0::1')",
    "ip('1.2.3.4').family() == 4",
    "ip('::1').family() == 6",
    "ip.isCanonical('127.0.0.1')",
    "ip.isCanonical('2001:db8::abcd')",
    "!ip.isCanonical('2001:DB8::ABCD')",
    "!ip.isCanonical('2001:db8::0:0:0:abcd')",
    "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()",
    "!ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
    "!ip('fd80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && ip('2001:db8::abcd').isGlobalUnicast()",
    "!ip('255.255.255.255').isGlobalUnicast() && !ip('ff00::1').isGlobalUnicast()",
    "string(ip('2001:0db8:0:0:1:0:0:1')) == '2001:db8::1:0:0:1'",
    "isCIDR('10.0.0.0/8')",
    "isCIDR('::1/128')",
    "!isCIDR('10.0.0.0')",
    "!isCIDR('10.0.0.0/33')",
    "!isCIDR('10.0.0.0/08')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
    "cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))",
    "!cidr('10.0.0.0/8').containsIP('11.0.0.0')",
    "!cidr('10.0.0.0/8').containsIP('::1')",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "!cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
    "cidr('2001:db8::/32').containsIP('2001:db8:1::1')",
    "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')",
    "cidr('10.0.0.1/8').masked() == cidr('10.0.0.0/8')",
    "cidr('10.0.0.0/8').prefixLength() == 8",
    "string(cidr('10.0.0.0/8')) == '10.0.0.0/8'",
};

static const char *const others[] = {
    "!format.dns1123Label().validate('short').hasValue()",
    "format.dns1123Label().validate('too long').value() == ['is too long']",
    "format.named('dns1123Label').value() == format.dns1123Label()",
    "!format.named('nonsense').hasValue()",
    "format.uri().validate('x') == optional.none()",
    "optional.of(1).hasValue() && !optional.none().hasValue()",
    "optional.of([1]).value() == [1]",
    "optional.of(1) != optional.of(2)",
};

static void lists_are_searched_and_summed(void **state)
{
    assert_true_rows(*state, lists, "{\"l\":[1,2]}");
}

static void urls_have_parts(void **state)
{
    assert_true_rows(*state, urls, NULL);
}

static void quantities_are_numbers(void **state)
{
    assert_true_rows(*state, quantities, NULL);
}

static void addresses_have_properties(void **state)
{
    assert_true_rows(*state, addresses, NULL);
}

static void formats_and_optionals(void **state)
{
    assert_true_rows(*state, others, NULL);
}

static void misuse_is_an_error(void **state)
{
    static const struct cel_case rows[] = {
        {"[1].filter(x, x > 1).min() == 1", "min called on empty list"},
        {"[dyn(1), dyn('a')].isSorted()", "no such overload"},
        {"[9223372036854775807, 1].sum() == 1", "integer overflow"},
        {"url('x') == url('/')", "URL parse error"},
        {"quantity('1x') == quantity('1')", "quantities must match the regular expression"},
        {"quantity('1.5').asInteger() == 1", "cannot convert value to integer"},
        {"ip('x') == ip('::1')", "IP Address \"x\" parse error"},
        {"cidr('1.2.3.4') == cidr('::/0')", "network address parse error"},
        {"cidr('10.0.0.0/8').containsIP('x')", "IP Address \"x\" parse error"},
        {"optional.none().value() == 1", "optional.none() dereference"},
    };
    assert_error_rows(*state, rows, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(lists_are_searched_and_summed), arena_test(urls_have_parts),
        arena_test(quantities_are_numbers),        arena_test(addresses_have_properties),
        arena_test(formats_and_optionals),         arena_test(misuse_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
