/* Runs a libFuzzer target on the files it is given, for compilers without libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file || fseek(file, 0, SEEK_END)) return 2;
        size_t n = (size_t)ftell(file);
        uint8_t *data = malloc(n ? n : 1);
        rewind(file);
        if (!data || fread(data, 1, n, file) != n) return 2;
        fclose(file);
        LLVMFuzzerTestOneInput(data, n);
        free(data);
    }
    printf("%d files pass\n", argc - 1);
    return 0;
}
