/* managed.cu - uses what the workbook's runtime does not have. */
int main()
{
    int *x;
    return cudaMallocManaged(&x, 128);
}
