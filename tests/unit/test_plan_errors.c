// What the planner refuses, E0801 to E0808, and the words.
#include "plan_job.h"

#include <criterion/criterion.h>
#include <string.h>

#define MODEL(mesh, params)                                                              \
  "{ \"format\": \"stepc-model/1\", \"name\": \"t\", \"mesh\": {" mesh                   \
  "}, \"params\": [" params "] }"
#define FSDP                     "\"fsdp\": {\"size\": 4, \"stride\": 1}"
#define PARAM(name, shape, more) "{ \"name\": \"" name "\", \"shape\": " shape more " }"
#define SMALL                    MODEL("", PARAM("w", "[64, 64]", "") "," PARAM("b", "[64]", ""))

static const struct refusal {
  const char *said; // code and words
  const char *model;
  struct plan_options o;
} refusals[] = {
    {"error[E0801]: `muon` needs whole matrices, but `w` is sharded along axis `fsdp` in "
     "dimension 0: exchanges of matrices between ranks are not planned in this version",
     MODEL(FSDP, PARAM("w", "[64, 64]", ", \"place\": {\"fsdp\": 0}")),
     {.rank = 0}},
    {"`e` is sharded along axis `fsdp` in dimension 2",
     MODEL(FSDP, PARAM("e", "[8, 64, 64]", ", \"place\": {\"fsdp\": 2}")),
     {.rank = 0}},
    {"the same holds for 2 more of the use line `muon`",
     MODEL(FSDP, PARAM("w.{0..2}", "[64, 64]", ", \"place\": {\"fsdp\": 0}")),
     {.rank = 0}},
    {"`w` lies in flat buffers along axis `fsdp`",
     MODEL(FSDP,
           PARAM("w", "[2, 2]",
                 ", \"flat\": {\"axis\": \"fsdp\", \"ranges\": [[0, 2], [2, 4], [4, 4], "
                 "[4, 4]]}")),
     {.rank = 0}},
    {"error[E0802]: 2 slots:", SMALL, {.offload = {"host", 4}, .slots = 2}},
    {"error[E0803]: unknown offload `disk`", SMALL, {.offload = {"disk", 4}}},
    {"error[E0803]: unknown offload `host:1.5`", SMALL, {.offload = {"host:1.5", 8}}},
    {"error[E0803]: unknown offload `host:`", SMALL, {.offload = {"host:", 5}}},
    {"error[E0803]: unknown offload `host:0x1`", SMALL, {.offload = {"host:0x1", 8}}},
    {"error[E0804]: the number of slots does not apply", SMALL, {.slots = 4}},
    {"error[E0804]: a serial step does not apply", SMALL, {.serial = true}},
    {"error[E0804]: overlap does not apply",
     SMALL,
     {.offload = {"host", 4}, .overlap = true, .serial = true}},
    {"error[E0804]: the chunk size does not apply",
     SMALL,
     {.offload = {"host", 4}, .chunk_bytes = 4096, .serial = true}},
    {"error[E0804]: the number of slots does not apply",
     SMALL,
     {.offload = {"host", 4}, .slots = 3, .serial = true}},
    {"error[E0804]: the budget of device memory does not apply",
     SMALL,
     {.offload = {"host", 4}, .gpu_memory = 1 << 20, .serial = true}},
    {"error[E0804]: the chunk size does not apply", SMALL, {.chunk_bytes = 4096}},
    {"error[E0804]: the budget of host memory does not apply", SMALL, {.host_memory = 1}},
    {"error[E0807]: parts of `b` are on no rank",
     MODEL(FSDP ", \"ep\": {\"size\": 2, \"stride\": 1}",
           PARAM("b", "[64, 64]", ", \"place\": {\"fsdp\": 0}, \"on\": {\"ep\": 0}")),
     {.rank = 0}},
    {"error[E0807]: parts of `b` are on no rank",
     MODEL(FSDP ", \"ep\": {\"size\": 2, \"stride\": 1}",
           PARAM("b", "[64]", ", \"place\": [[\"fsdp\", 0], [\"ep\", 0]]")),
     {.rank = 0}},
    {"error[E0808]: a plan has at most 65536 slots, and here are 65537",
     SMALL,
     {.offload = {"host", 4}, .slots = 65537}},
    {"error[E0808]: a plan has at most 140737488355328 elements in all parameters",
     MODEL("", PARAM("b", "[1048576, 1048576, 256]", "")),
     {.rank = 0}},
    {"error[E0808]: a plan has at most 1048576 sub-batches of matrices",
     MODEL("", PARAM("w", "[8796093022208, 2, 2]", "")),
     {.rank = 0}},
    {"error[E0808]: a plan has at most 65536 ranks, and here are 131072",
     MODEL("\"dp\": {\"size\": 131072, \"stride\": 1}", PARAM("b", "[64]", "")),
     {.rank = 0}},
    {"error[E0808]: a plan has at most 1048576 chunks, and here are 1048577",
     MODEL("", PARAM("wte", "[4294967296, 4096]", "")),
     {.offload = {"host", 4}, .chunk_bytes = 1}},
    {"error[E0805]: there is no rank 1 in a world of 1", SMALL, {.rank = 1}},
};

Test(plan_errors, say_what_is_wrong) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct plan_job j;
    plan_job_open(&j, "specs/gpt.opt", refusals[i].model, false);
    cr_expect_null(plan_job_plan(&j, &refusals[i].o), "%s", refusals[i].said);
    const char *said = plan_job_said(&j);
    cr_expect(strstr(said, refusals[i].said) != NULL, "%s\nnot in:\n%s", refusals[i].said,
              said);
    plan_job_close(&j);
  }
}

// The smallest budget that a message gives works, and one byte less does not.
static void check_budget(const char *offload, uint64_t chunk_bytes, bool overlap,
                         bool is_host) {
  struct plan_job j;
  plan_job_open(&j, "specs/gpt.opt", "tests/models/tiny.json", false);
  struct plan_options o = {
      .offload = str_of(offload), .chunk_bytes = chunk_bytes, .overlap = overlap};
  uint64_t *budget = is_host ? &o.host_memory : &o.gpu_memory;
  *budget = 1;
  cr_assert_null(plan_job_plan(&j, &o));
  const char *said = plan_job_said(&j), *help = strstr(said, "with these options ");
  cr_assert(strstr(said, "error[E0806]") != NULL && help != NULL, "%s", said);
  *budget = strtoull(help + strlen("with these options "), NULL, 10) * 1024;
  cr_expect_not_null(plan_job_plan(&j, &o), "%s", plan_job_said(&j));
  *budget -= 1024;
  cr_expect_null(plan_job_plan(&j, &o));
  plan_job_close(&j);
}

Test(plan_errors, budgets_name_the_smallest_that_works) {
  check_budget("none", 0, false, false);
  check_budget("host", 0, false, false);
  check_budget("host", 1, false, false); // as large as the largest parameter: four slots
  check_budget("host", 1, true, false);
  check_budget("host:0.5", 0, false, false);
  check_budget("host", 0, false, true);
}
