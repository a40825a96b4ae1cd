/*
 * SipHash-2-4-128 against the vectors of its authors (key 00..0f, input 00, 01, 02, ...).
 */
#include "base/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_authors_vectors_hold(void **state)
{
	(void)state;
	static const struct {
		size_t len;
		unsigned char out[16];
	} vectors[] = {
		{0, {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
			    0x55, 0x02, 0x93}},
		{1, {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
			    0x22, 0xfc, 0x45}},
	};
	const struct siphash_key key = {{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
	const unsigned char input[] = {0, 1, 2, 3};
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		uint64_t hash[2];
		siphash128(&key, input, vectors[i].len, hash);
		assert_memory_equal(hash, vectors[i].out, 16); /* on a little-endian machine */
	}
}

static void every_byte_and_the_length_count(void **state)
{
	(void)state;
	const struct siphash_key key = {{1, 2}};
	unsigned char input[64] = {0};
	uint64_t whole[2], other[2];
	for (size_t len = 1; len <= sizeof(input); len++) {
		siphash128(&key, input, len, whole);
		siphash128(&key, input, len - 1, other);
		assert_memory_not_equal(whole, other, sizeof(whole));
		input[len - 1] ^= 1;
		siphash128(&key, input, len, other);
		assert_memory_not_equal(whole, other, sizeof(whole));
		input[len - 1] ^= 1;
	}
}

static void a_pair_of_names_is_no_one_text(void **state)
{
	(void)state;
	const struct siphash_key key = {{1, 2}}, other = {{1, 3}};
	uint64_t hash = siphash_names(&key, "team", "job");
	assert_true(siphash_names(&key, "team", "job") == hash);
	assert_true(siphash_names(&key, "teamj", "ob") != hash);
	assert_true(siphash_names(&key, "job", "team") != hash);
	assert_true(siphash_names(&other, "team", "job") != hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_authors_vectors_hold),
		cmocka_unit_test(every_byte_and_the_length_count),
		cmocka_unit_test(a_pair_of_names_is_no_one_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
