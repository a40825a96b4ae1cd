/* Ends what fields/members.h began. */
#undef NAME
#undef STRING
#undef GLOBS
#undef FLAG
#undef NUMBER
#undef MAYBE_NUMBER
#undef SPAN
#undef CHOICE
#undef EITHER
#undef INT32
#undef INT64
#undef BOOL
#undef ENUM_OF
#undef SELECTOR
#undef WEIGHT
#undef METADATA
#undef OBJECT
