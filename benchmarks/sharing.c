/* Reads valgrind's trace of memory (lackey --trace-mem=yes) on standard input, and prints the lines
 * of 64 bytes that two threads use while one of them writes there, with who writes.
 *
 * The program that is traced stores into MARK where the first thread begins, where it ends, where
 * the second begins, where it ends, and so on for the next case. For each case there is one line
 * "case", one "line ADDRESS READS READS WRITES WRITES" for each such piece of memory, then one
 * "site ADDRESS INSTRUCTION WRITES WRITES" for each instruction that wrote to one, with a number for
 * either thread. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK 0x600000000ULL
#define PLACES (1u << 22)

typedef struct {
    uint64_t line;
    uint32_t reads[2], writes[2];
} Piece;

typedef struct {
    uint64_t line, instruction;
    uint32_t writes[2];
} Site;

static Piece *pieces;
static Site *sites;

static uint32_t
place_of(uint64_t key)
{
    return (uint32_t)((key * 0x9E3779B97F4A7C15ULL) >> 42);
}

static Piece *
piece_at(uint64_t line)
{
    uint32_t i = place_of(line);
    while (pieces[i].line != 0 && pieces[i].line != line) {
        i = (i + 1) & (PLACES - 1);
    }
    pieces[i].line = line;
    return &pieces[i];
}

static Site *
site_at(uint64_t line, uint64_t instruction)
{
    uint32_t i = place_of(line * 31 + instruction);
    while (sites[i].line != 0 && (sites[i].line != line || sites[i].instruction != instruction)) {
        i = (i + 1) & (PLACES - 1);
    }
    sites[i].line = line;
    sites[i].instruction = instruction;
    return &sites[i];
}

static int
is_shared(const Piece *piece)
{
    return (piece->writes[0] && piece->reads[1] + piece->writes[1])
        || (piece->writes[1] && piece->reads[0] + piece->writes[0]);
}

static void
report(void)
{
    puts("case");
    for (uint32_t i = 0; i < PLACES; i++) {
        if (pieces[i].line == 0 || !is_shared(&pieces[i])) {
            continue;
        }
        printf("line %llx %u %u %u %u\n", (unsigned long long)pieces[i].line << 6,
               pieces[i].reads[0], pieces[i].reads[1], pieces[i].writes[0], pieces[i].writes[1]);
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (sites[i].line != 0 && is_shared(piece_at(sites[i].line))) {
            printf("site %llx %llx %u %u\n", (unsigned long long)sites[i].line << 6,
                   (unsigned long long)sites[i].instruction, sites[i].writes[0],
                   sites[i].writes[1]);
        }
    }
    fflush(stdout);
    memset(pieces, 0, PLACES * sizeof *pieces);
    memset(sites, 0, PLACES * sizeof *sites);
}

int
main(void)
{
    char text[512];
    uint64_t instruction = 0;
    int marks = 0;
    pieces = calloc(PLACES, sizeof *pieces);
    sites = calloc(PLACES, sizeof *sites);
    if (pieces == NULL || sites == NULL) {
        return 1;
    }
    while (fgets(text, sizeof text, stdin) != NULL) {
        /* "I  address,size", " L address,size", " S ...", " M ..." for both. */
        char kind = text[0] == ' ' ? text[1] : text[0];
        uint64_t address;
        if (strchr("ISLM", kind) == NULL || text[2] != ' ') {
            continue;
        }
        address = strtoull(text + 3, NULL, 16);
        if (kind == 'I') {
            instruction = address;
        }
        else if (kind == 'S' && address == MARK) {
            marks++;
            if (marks % 4 == 0) {
                report();
            }
        }
        else if (marks % 2 == 1) {
            int thread = marks % 4 / 2;
            Piece *piece = piece_at(address >> 6);
            if (kind != 'S') {
                piece->reads[thread]++;
            }
            if (kind != 'L') {
                piece->writes[thread]++;
                site_at(address >> 6, instruction)->writes[thread]++;
            }
        }
    }
    return 0;
}
